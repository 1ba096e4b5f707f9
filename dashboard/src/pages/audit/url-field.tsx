import { useEffect, useRef, useState } from 'react'
import { useUrlState } from '../../app/use-url-state.ts'
import { TextField } from '../../ui/field.tsx'

const PAUSE_MS = 400

interface UrlFieldProps {
  /** Of the parameter in the address. */
  readonly name: string
  readonly label: string
  readonly placeholder?: string
  readonly list?: string
}

/** A filter that is typed: it goes into the address once the typing pauses. */
export const UrlField = ({ name, ...field }: UrlFieldProps) => {
  const [value, setValue] = useUrlState(name)
  const [text, setText] = useState(value)
  const latest = useRef({ setValue, sent: value })
  useEffect(() => {
    latest.current.setValue = setValue
  })
  // Somebody else changed the address: a link, the back button.
  useEffect(() => {
    if (value !== latest.current.sent) setText(value)
    latest.current.sent = value
  }, [value])
  useEffect(() => {
    const wanted = text.trim()
    if (wanted === latest.current.sent) return
    const timer = setTimeout(() => {
      latest.current.sent = wanted
      latest.current.setValue(wanted)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <TextField
      {...field}
      value={text}
      maxLength={256}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => setText(event.target.value)}
    />
  )
}

/** A moment in the viewer's zone; the address holds UTC. */
export const UrlTimeField = ({ name, label }: Pick<UrlFieldProps, 'name' | 'label'>) => {
  const [value, setValue] = useUrlState(name)
  return (
    <TextField
      label={label}
      type="datetime-local"
      step={1}
      value={localText(value)}
      onChange={(event) => {
        const moment = new Date(event.target.value)
        setValue(Number.isNaN(moment.getTime()) ? '' : moment.toISOString())
      }}
    />
  )
}

/** As the input wants it: without a zone, in the viewer's. */
const localText = (iso: string): string => {
  const moment = new Date(iso)
  if (iso === '' || Number.isNaN(moment.getTime())) return ''
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
