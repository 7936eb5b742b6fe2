# gnuplot fig5a.gp draws fig5a.png from fig5a.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'fig5a.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'All to all: what each server receives'
set xlabel 'servers'
set ylabel 'Gb/s of link time, links of 1 Gb/s'
set logscale x
set offsets graph 0.04, graph 0.04
set yrange [0:*]
$series2 << END
27,2.7
512,1
4096,0.5
END
plot 'fig5a.csv' using (column('servers')):(column('bound_gbps')):xtic(stringcolumn('servers')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'exact bound', \
     'fig5a.csv' using (column('servers')):(column('achieved_gbps')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#d55e00' title 'cubeway, 98 % of it offered', \
     $series2 using 1:2 with points linewidth 2 pointtype 8 pointsize 1.3 linecolor rgb 'black' title 'CamCubeOS, section 4.2.3', \
     $series2 using 1:($2 != 0 ? $2 : NaN):2 with labels offset character 0,-1.2 notitle
