# gnuplot kv_fig6b.gp draws kv_fig6b.png from kv_fig6b.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'kv_fig6b.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'Thumbnails, 27 servers, slow hosts: requests a second'
set xlabel 'concurrent requests'
set ylabel 'thousand requests a second'
set xrange [0:*]
set offsets 0, graph 0.04
set yrange [0:*]
plot 'kv_fig6b.csv' using (column('at_once')):(column('krate_0')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'every read at its root', \
     'kv_fig6b.csv' using (column('at_once')):(column('krate_4')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#d55e00' title 'copies at 4 extra keys', \
     'kv_fig6b.csv' using (column('at_once')):(column('krate_8')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#009e73' title 'copies at 8 extra keys'
