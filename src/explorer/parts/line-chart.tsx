import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { colour, onTheme } from './theme.ts';

export interface Line {
  name: string;
  values: (number | null)[];
}

interface Props {
  /** Unix seconds, or any number where `time` is false; ascending. */
  xs: number[];
  lines: Line[];
  time?: boolean;
  height?: number;
  label: string;
  /** Points alone, where what lies between two values is not known. */
  points?: boolean;
}

const HUES = ['hue0', 'hue3', 'hue2', 'hue1', 'hue4', 'up', 'down', 'warn', 'muted', 'text'];

/** Lines over time. */
export function LineChart({ xs, lines, time = true, height = 280, label, points = false }: Props) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let plot: uPlot | undefined;
    const draw = (): void => {
      plot?.destroy();
      const axis = {
        stroke: colour('muted'),
        grid: { stroke: colour('line'), width: 1 },
        ticks: { stroke: colour('line') },
      };
      plot = new uPlot(
        {
          width: element.clientWidth,
          height,
          scales: { x: { time } },
          axes: [axis, { ...axis, size: 72 }],
          legend: { live: true },
          series: [
            {},
            ...lines.map(({ name }, n) => ({
              label: name,
              stroke: colour(HUES[n % HUES.length] ?? 'accent'),
              width: 1.5,
              spanGaps: true,
              points: { show: points && xs.length < 300 },
            })),
          ],
        },
        [xs, ...lines.map(({ values }) => values)],
        element,
      );
    };
    draw();
    const sized = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height }));
    sized.observe(element);
    const stop = onTheme(draw);
    return () => {
      stop();
      sized.disconnect();
      plot?.destroy();
    };
  }, [xs, lines, time, height, points]);
  return <div ref={box} class="lines" role="img" aria-label={label} />;
}
