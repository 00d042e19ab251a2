import {
  customSeriesDefaultOptions,
  type CustomData,
  type CustomSeriesOptions,
  type CustomSeriesPricePlotValues,
  type ICustomSeriesPaneRenderer,
  type ICustomSeriesPaneView,
  type PaneRendererCustomData,
  type PriceToCoordinateConverter,
  type Time,
  type WhitespaceData,
} from 'lightweight-charts';

/** Best bid and ask of a bucket. */
export interface Quoted extends CustomData<Time> {
  bid: number;
  ask: number;
}
type Target = Parameters<ICustomSeriesPaneRenderer['draw']>[0];

/** Fills the area between bid and ask. */
export class Band implements ICustomSeriesPaneView<Time, Quoted, CustomSeriesOptions> {
  #data: PaneRendererCustomData<Time, Quoted> | null = null;
  #color = '';

  renderer(): ICustomSeriesPaneRenderer {
    return { draw: (target, priceToY) => this.#draw(target, priceToY) };
  }
  update(data: PaneRendererCustomData<Time, Quoted>, { color }: CustomSeriesOptions): void {
    this.#data = data;
    this.#color = color;
  }
  priceValueBuilder({ bid, ask }: Quoted): CustomSeriesPricePlotValues {
    return [ask, bid];
  }
  isWhitespace(data: Quoted | WhitespaceData): data is WhitespaceData {
    return !('bid' in data);
  }
  defaultOptions(): CustomSeriesOptions {
    return { ...customSeriesDefaultOptions, priceLineVisible: false, lastValueVisible: false };
  }

  #draw(target: Target, priceToY: PriceToCoordinateConverter): void {
    const { bars, visibleRange } = this.#data ?? { bars: [], visibleRange: null };
    if (visibleRange === null) return;
    const seen = bars.slice(visibleRange.from, visibleRange.to);
    target.useBitmapCoordinateSpace(({ context, horizontalPixelRatio: wide, verticalPixelRatio: high }) => {
      context.beginPath();
      for (const { x, originalData } of seen) context.lineTo(x * wide, (priceToY(originalData.ask) ?? 0) * high);
      for (const { x, originalData } of seen.toReversed())
        context.lineTo(x * wide, (priceToY(originalData.bid) ?? 0) * high);
      context.closePath();
      context.fillStyle = this.#color;
      context.fill();
    });
  }
}
