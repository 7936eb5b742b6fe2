# gnuplot fig5b.gp draws fig5b.png from fig5b.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'fig5b.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'All to all, 512 servers: the median server''s throughput lost when servers fail'
set xlabel 'failed servers, %'
set ylabel 'throughput lost, %'
set xrange [0:*]
set offsets 0, graph 0.04
set yrange [0:*]
$series1 << END
0,0
20,38.77
END
plot 'fig5b.csv' using (column('failed_percent')):(column('fall_percent')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'cubeway', \
     $series1 using 1:2 with linespoints linewidth 2 pointtype 8 pointsize 1.3 linecolor rgb 'black' title 'CamCubeOS, section 4.2.4: linear, 38.77 % at 20 %', \
     $series1 using 1:($2 != 0 ? $2 : NaN):2 with labels offset character 0,-1.2 notitle
