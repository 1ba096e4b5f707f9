import { type ReactNode, useRef, useState, useSyncExternalStore } from 'react'
import { cx } from './cx.ts'
import { moveBetweenRows, ROW } from './table.tsx'

interface LiveListProps<Item> {
  readonly label: string
  /** Newest first, bounded by the caller. */
  readonly items: readonly Item[]
  readonly itemKey: (item: Item) => string
  /** Every row has this height: that is what makes drawing only the visible ones possible. */
  readonly rowPx: number
  /** Height of a row on a phone, where it may need two lines. */
  readonly phoneRowPx?: number
  readonly heightPx: number
  readonly render: (item: Item) => ReactNode
  readonly onOpen?: (item: Item) => void
}

const MARGIN_ROWS = 6

/** Minimum size of a touch target. */
const TOUCH_ROW_PX = 44

/** Draws the rows that can be seen and no others, however fast new ones come. */
export const LiveList = <Item,>({
  label,
  items,
  itemKey,
  rowPx: wideRowPx,
  phoneRowPx = wideRowPx,
  heightPx,
  render,
  onOpen,
}: LiveListProps<Item>) => {
  const heightOfRowPx = useIsPhone() ? phoneRowPx : wideRowPx
  const rowPx = useIsTouch() ? Math.max(heightOfRowPx, TOUCH_ROW_PX) : heightOfRowPx
  const [scrollPx, setScrollPx] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  const first = Math.max(0, Math.floor(scrollPx / rowPx) - MARGIN_ROWS)
  const count = Math.ceil(heightPx / rowPx) + 2 * MARGIN_ROWS
  const shown = items.slice(first, first + count)
  return (
    <div
      ref={box}
      role="region"
      aria-label={label}
      tabIndex={0}
      className="overflow-y-auto"
      style={{ height: `min(${heightPx}px, ${Math.max(1, items.length) * rowPx}px)` }}
      onKeyDown={moveBetweenRows}
      onScroll={() => setScrollPx(box.current?.scrollTop ?? 0)}
    >
      <ul className="relative" style={{ height: items.length * rowPx }}>
        {shown.map((item, index) => (
          <li
            key={itemKey(item)}
            className={cx(
              'absolute inset-x-0 border-b border-line',
              onOpen !== undefined && 'hover:bg-raised',
            )}
            style={{ height: rowPx, top: (first + index) * rowPx }}
          >
            {onOpen === undefined ? (
              render(item)
            ) : (
              <button
                {...ROW}
                type="button"
                className="block h-full w-full text-left"
                onClick={() => onOpen(item)}
              >
                {render(item)}
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Whether the screen is like this now. */
const useMedia = (query: string): boolean =>
  useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => matchMedia(query).matches,
  )

/** The width of a phone, as `max-sm:` says it in CSS. */
const useIsPhone = (): boolean => useMedia('(width < 40rem)')

/** Fingers need larger targets than a mouse. */
const useIsTouch = (): boolean => useMedia('(pointer: coarse)')
