import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parquetMetadata, parquetRead } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { timestampAt } from '../../../core/shared/time.ts'
import type { FeedBar } from '../../../core/market/bar.ts'
import { namesIn, removeLeftOver, withDraft } from '../../files.ts'

// Copies of bar files in text, such as CSV, as Parquet: what a feed delivered from the file, in the same order.

/** Properties of a copy that are not in its rows. */
export interface FeedBarsNote {
  /** SHA-256 of the file that was copied. A copy of other content is not used. */
  readonly content: string
  /** Number of bytes of the rows, which are at the start of the copy. */
  readonly rowBytes: number
  readonly resolutionSeconds: number
  readonly symbols: readonly string[]
  /** Messages of the feed, each with the number of bars that were delivered before it. */
  readonly messages: readonly { readonly bars: number; readonly text: string }[]
}

const VALUES = [
  'open',
  'high',
  'low',
  'close',
  'volume',
  'quote_volume',
  'funding_annualized',
  'basis_annualized',
  'open_interest_usd',
  'bid_depth_usd',
  'ask_depth_usd',
  'fear_greed',
] as const satisfies readonly (keyof FeedBar)[]

const NOTE_KEY = 'signal-engine'
/** Hash of the rows and the note. A damaged copy is made again. */
const HASH_KEY = 'signal-engine.sha256'
const GROUP_BARS = 50_000

/** Collects delivered bars, and encodes them in groups, so that few of them are in memory. */
export class FeedBarsEncoder {
  readonly #bytes = new ByteWriter()
  readonly #writer = new ParquetWriter({
    writer: this.#bytes,
    schema: [
      { name: 'bars', num_children: 2 + VALUES.length },
      { name: 'open_time', type: 'INT64', repetition_type: 'REQUIRED' },
      { name: 'symbol', type: 'INT32', repetition_type: 'REQUIRED' },
      // Missing values are NaN, which no bar has.
      ...VALUES.map((name) => ({ name, type: 'DOUBLE', repetition_type: 'REQUIRED' }) as const),
    ],
    createdBy: 'signal-engine',
  })
  readonly #symbols = new Map<string, number>()
  readonly #messages: { readonly bars: number; readonly text: string }[] = []
  #held: FeedBar[] = []
  #count = 0
  #resolutionSeconds = 0

  async add(bars: readonly FeedBar[]): Promise<void> {
    for (const bar of bars) {
      if (!this.#symbols.has(bar.symbol)) this.#symbols.set(bar.symbol, this.#symbols.size)
      this.#resolutionSeconds = bar.resolution_s
      this.#held.push(bar)
    }
    this.#count += bars.length
    if (this.#held.length >= GROUP_BARS) await this.#flush()
  }

  addMessage(text: string): void {
    this.#messages.push({ bars: this.#count, text })
  }

  async end(content: string): Promise<Uint8Array> {
    await this.#flush()
    const rows = this.#bytes.getBytes()
    const note: FeedBarsNote = {
      content,
      rowBytes: rows.length,
      resolutionSeconds: this.#resolutionSeconds,
      symbols: [...this.#symbols.keys()],
      messages: this.#messages,
    }
    const text = JSON.stringify(note)
    this.#writer.kvMetadata = [
      { key: NOTE_KEY, value: text },
      { key: HASH_KEY, value: hashOf(rows, text) },
    ]
    await this.#writer.finish()
    return this.#bytes.getBytes()
  }

  async #flush(): Promise<void> {
    const bars = this.#held
    this.#held = []
    if (bars.length === 0) return
    await this.#writer.write({
      columnData: [
        {
          name: 'open_time',
          data: BigInt64Array.from(bars, ({ open_ts }) => BigInt(Date.parse(open_ts))),
          encoding: 'DELTA_BINARY_PACKED',
        },
        { name: 'symbol', data: Int32Array.from(bars, ({ symbol }) => this.#symbols.get(symbol) ?? 0) },
        ...VALUES.map((name) => ({ name, data: Float64Array.from(bars, (bar) => bar[name] ?? Number.NaN) })),
      ],
      rowGroupSize: GROUP_BARS,
    })
  }
}

/** Reads a copy: its note, and parts of its bars, in groups of one time. */
export const readFeedBars = async (path: string) => {
  const bytes = await readFile(path)
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const metadata = parquetMetadata(file)
  const valueOf = (name: string): string | undefined =>
    metadata.key_value_metadata?.find(({ key }) => key === name)?.value
  const text = valueOf(NOTE_KEY) ?? 'null'
  const note = JSON.parse(text) as FeedBarsNote
  if (hashOf(bytes.subarray(0, note.rowBytes), text) !== valueOf(HASH_KEY))
    throw new Error(`${path} is damaged`)
  async function* parts(): AsyncGenerator<Iterable<readonly FeedBar[]>> {
    // The last group of a part may go on in the next one.
    let open: FeedBar[] = []
    function* groupsIn(columns: Columns): Generator<readonly FeedBar[]> {
      for (const bar of barsIn(columns, note)) {
        if (open.length > 0 && open[0]?.open_ts !== bar.open_ts) {
          yield open
          open = []
        }
        open.push(bar)
      }
    }
    let from = 0
    for (const { num_rows } of metadata.row_groups) {
      const to = from + Number(num_rows)
      yield groupsIn(await rowsOf(file, metadata, from, to))
      from = to
    }
    if (open.length > 0) yield [open]
  }
  return { note, parts }
}

type Columns = ReadonlyMap<string, Float64Array>

const rowsOf = async (
  file: ArrayBuffer,
  metadata: ReturnType<typeof parquetMetadata>,
  rowStart: number,
  rowEnd: number,
): Promise<Columns> => {
  const columns = new Map<string, Float64Array>()
  await parquetRead({
    file: { byteLength: file.byteLength, slice: (start, end) => file.slice(start, end) },
    metadata,
    rowStart,
    rowEnd,
    onChunk: ({ columnName, columnData, rowStart: at }) => {
      const values = columns.get(columnName) ?? new Float64Array(rowEnd - rowStart)
      for (let index = 0; index < columnData.length; index += 1) {
        const row = at + index - rowStart
        if (row >= 0 && row < values.length) values[row] = Number(columnData[index])
      }
      columns.set(columnName, values)
    },
  })
  return columns
}

function* barsIn(columns: Columns, { symbols, resolutionSeconds }: FeedBarsNote): Generator<FeedBar> {
  const times = columns.get('open_time') ?? new Float64Array()
  const places = columns.get('symbol')
  const values = VALUES.map((name) => columns.get(name))
  for (let row = 0; row < times.length; row += 1) {
    const openMs = times[row] ?? Number.NaN
    const at = (column: number): number => values[column]?.[row] ?? Number.NaN
    const orNull = (column: number): number | null => (Number.isNaN(at(column)) ? null : at(column))
    yield {
      symbol: symbols[places?.[row] ?? -1] ?? '',
      resolution_s: resolutionSeconds,
      open_ts: timestampAt(openMs),
      close_ts: timestampAt(openMs + resolutionSeconds * 1000),
      open: at(0),
      high: at(1),
      low: at(2),
      close: at(3),
      volume: at(4),
      quote_volume: at(5),
      funding_annualized: orNull(6),
      basis_annualized: orNull(7),
      open_interest_usd: orNull(8),
      bid_depth_usd: orNull(9),
      ask_depth_usd: orNull(10),
      fear_greed: orNull(11),
      backfill: false,
    }
  }
}

/** Writes a copy whole, and removes the oldest copies beyond the limit. */
export const writeCopy = async (path: string, bytes: Uint8Array): Promise<void> => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeLeftOver(folder, DRAFT)
  await withDraft(path, bytes, (draft) => rename(draft, path))
  const copies = (await namesIn(folder)).filter((name) => name.endsWith('.parquet'))
  const ages = await Promise.all(
    copies.map(async (name) => ({ path: join(folder, name), ms: (await stat(join(folder, name))).mtimeMs })),
  )
  for (const old of ages.toSorted((one, other) => other.ms - one.ms).slice(COPIES_MAX)) await rm(old.path)
}

/** Number of copies that are kept. */
const COPIES_MAX = 20

const DRAFT = /^\.\w+\.parquet\.[\w-]+\.tmp$/

const hashOf = (rows: Uint8Array, note: string): string =>
  createHash('sha256').update(rows).update(note).digest('hex')

/** SHA-256 of a file, read in parts. */
export const contentHash = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const part of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(part as Buffer)
  return hash.digest('hex')
}
