# gnuplot reduce_deaths_1.gp draws reduce_deaths_1.png from reduce_deaths_1.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'reduce_deaths_1.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'A sum to one server of 3x3x3, while servers on the way die'
set xlabel 'ms'
set ylabel 'Gb/s'
set xrange [0:*]
set offsets 0, graph 0.04
set yrange [0:*]
plot 'reduce_deaths_1.csv' using (column('ms')):(column('gbps')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'settled at the root'
