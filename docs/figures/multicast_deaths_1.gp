# gnuplot multicast_deaths_1.gp draws multicast_deaths_1.png from multicast_deaths_1.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'multicast_deaths_1.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'A message to 26 servers of 3x3x3, some of which die'
set xlabel 'ms'
set ylabel 'Gb/s'
set xrange [0:*]
set offsets 0, graph 0.04
set yrange [0:*]
plot 'multicast_deaths_1.csv' using (column('ms')):(column('gbps')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'the slowest member that lives'
