/** Markup that is known to be safe. */
export interface Html {
  readonly markup: string
}

type Part = Html | string | number | readonly Html[]

/** Everything that is put in is escaped, unless it is markup itself: names of symbols may come from any file. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  markup: texts
    .map((text, index) => text + (index < parts.length ? markupOf(parts[index] ?? '') : ''))
    .join(''),
})

const markupOf = (part: Part): string => {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return 'markup' in part ? part.markup : part.map(({ markup }) => markup).join('')
}

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`)

export const NOTHING: Html = { markup: '' }

/** A number of an attribute of a drawing: two digits behind the point are finer than a pixel. */
export const coordinate = (value: number): number =>
  Number.isFinite(value) ? Math.round(value * 100) / 100 : 0

export const percentText = (value: number | null, digits = 2): string =>
  value === null ? 'N/A' : `${(value * 100).toFixed(digits)} %`

export const decimalText = (value: number | null, digits = 2): string =>
  value === null ? 'N/A' : value.toFixed(digits)

export const usdText = (value: number | null): string =>
  value === null
    ? 'N/A'
    : value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Six digits, as prices span many magnitudes. */
export const priceText = (value: number): string =>
  Math.abs(value) >= 1000
    ? value.toLocaleString('en-US', { maximumFractionDigits: 2 })
    : String(Number(value.toPrecision(6)))

export const timeText = (iso: string | null): string =>
  iso === null ? 'N/A' : iso.slice(0, 16).replace('T', ' ')

/** The class that colours a gain or a loss. */
export const toneOf = (value: number | null): string => {
  if (value === null || value === 0) return ''
  return value > 0 ? 'gain' : 'loss'
}

export interface TableColumn<Item> {
  readonly title: string
  readonly cell: (item: Item) => Html | string | number
  /** Text is aligned left, numbers right. */
  readonly isText?: boolean
}

/** A table that scrolls by itself where the screen is narrow. */
export const tableOf = <Item>(
  label: string,
  items: readonly Item[],
  columns: readonly TableColumn<NoInfer<Item>>[],
): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map(({ title, isText }) => html`<th scope="col" class="${isText === true ? 'text' : ''}">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (item) =>
            html`<tr>
              ${columns.map(({ cell, isText }) => html`<td class="${isText === true ? 'text' : ''}">${cell(item)}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`

/** A value in the colour of its sign. */
export const toned = (value: number | null, text: string): Html =>
  html`<span class="${toneOf(value)}">${text}</span>`
