# gnuplot fig5c.gp draws fig5c.png from fig5c.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'fig5c.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'Keys under churn, 512 servers, 10 % of them down: packets dropped'
set xlabel 'failures a second, and as many returns'
set ylabel 'packets dropped, %'
set logscale x
set offsets graph 0.04, graph 0.04
set logscale y
set format y '%g'
$series1 << END
2,1
15,27.41
END
plot 'fig5c.csv' using (column('churn')):(column('dropped_percent')):xtic(stringcolumn('churn')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'cubeway, none misdelivered', \
     $series1 using 1:2 with points linewidth 2 pointtype 8 pointsize 1.3 linecolor rgb 'black' title 'CamCubeOS, section 4.2.5: below 1 % at 2, 27.41 % at 15', \
     $series1 using 1:($2 != 0 ? $2 : NaN):2 with labels offset character 0,-1.2 notitle
