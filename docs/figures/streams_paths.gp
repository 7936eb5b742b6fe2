# gnuplot streams_paths.gp draws streams_paths.png from streams_paths.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'streams_paths.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'Sorted streams, 27 servers, a part of the result on each'
set xlabel 'percent of the keys that all servers have'
set ylabel 'Gb/s of the records of one server'
set xrange [0:100]
set offsets 0, graph 0.04
set yrange [0:*]
plot 'streams_paths.csv' using (column('equal')):(column('trees')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'over trees', \
     'streams_paths.csv' using (column('equal')):(column('shortest')) with linespoints linewidth 2 pointtype 5 pointsize 1.3 linecolor rgb '#cc79a7' title 'over shortest ways', \
     'streams_paths.csv' using (column('equal')):(column('direct')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#d55e00' title 'direct', \
     'streams_paths.csv' using (column('equal')):(column('auto')) with linespoints linewidth 2 pointtype 6 pointsize 2.2 linecolor rgb '#009e73' title 'auto'
