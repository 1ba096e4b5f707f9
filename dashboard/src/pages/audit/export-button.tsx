import { Download } from 'lucide-react'
import { useRef, useState } from 'react'
import { readAllEvents } from '../../api/event-pages.ts'
import type { EventFilter } from '../../api/queries.ts'
import { Button } from '../../ui/button.tsx'
import { formatCount } from '../../ui/format.ts'
import { titleOf } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'

/** More than a browser should hold; the command line has no such limit. */
const EXPORTED_MAX = 100_000

/** What passes the filter as JSON Lines, oldest first: the form that `svc integrity --file` verifies. */
export const ExportButton = ({ filter }: { readonly filter: EventFilter }) => {
  const [count, setCount] = useState<number | null>(null)
  const controller = useRef<AbortController | null>(null)
  const run = async (): Promise<void> => {
    controller.current = new AbortController()
    setCount(0)
    try {
      const { lines, isCut } = await collect(filter, controller.current.signal, setCount)
      save(lines)
      toast(doneText(lines.length, isCut), isCut ? 'warn' : 'good')
    } catch (error) {
      if (controller.current.signal.aborted) toast('Export stopped')
      else toast(titleOf(error), 'bad')
    } finally {
      setCount(null)
    }
  }
  if (count !== null) {
    return (
      <Button size="small" onClick={() => controller.current?.abort()}>
        {formatCount(count)} read · Stop
      </Button>
    )
  }
  return (
    <Button
      size="small"
      onClick={() => void run()}
      title="What passes the filter, as JSON Lines. An export of all events can be verified with svc integrity --file."
    >
      <Download className="size-3.5" aria-hidden /> Export
    </Button>
  )
}

const collect = async (
  filter: EventFilter,
  signal: AbortSignal,
  onCount: (count: number) => void,
): Promise<{ readonly lines: readonly string[]; readonly isCut: boolean }> => {
  const lines: string[] = []
  for await (const events of readAllEvents(filter, signal)) {
    for (const event of events) lines.push(`${JSON.stringify(event)}\n`)
    onCount(lines.length)
    if (lines.length >= EXPORTED_MAX) return { lines: lines.slice(0, EXPORTED_MAX), isCut: true }
  }
  return { lines, isCut: false }
}

const doneText = (count: number, isCut: boolean): string =>
  isCut
    ? `Only the oldest ${formatCount(count)} events: use svc export events for more`
    : `${formatCount(count)} ${count === 1 ? 'event' : 'events'} exported`

const save = (lines: readonly string[]): void => {
  const url = URL.createObjectURL(new Blob([...lines], { type: 'application/x-ndjson' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `events-${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}.jsonl`
  link.click()
  // Not at once: the browser may still have to open it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
