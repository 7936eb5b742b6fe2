# gnuplot latency.gp draws latency.png from latency.csv
set datafile separator ','
set terminal pngcairo size 900,560 noenhanced font 'Sans,11'
set output 'latency.png'
set grid lt 1 lw 1 lc rgb '#d8d8d8'
set key above Left reverse
set title 'All to all, 8x8x8: how long a packet waits for each of its links'
set xlabel 'load offered, % of the exact bound'
set ylabel 'wait per hop, us'
set xrange [0:*]
set offsets 0, graph 0.04
set logscale y
set format y '%g'
plot 'latency.csv' using (column('load_percent')):(column('wait_per_hop_us')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#0072b2' title 'cubeway', \
     'latency.csv' using (column('load_percent')):(column('random_wait_us')) with linespoints linewidth 2 pointtype 7 pointsize 1.3 linecolor rgb '#d55e00' title 'arrivals at random on one link (M/D/1)'
