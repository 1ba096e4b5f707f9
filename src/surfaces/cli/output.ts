import type { Writable } from 'node:stream'
import { redactText, redactValue } from '../../core/operations/redaction.ts'
import type { Paint } from './style.ts'

export type TerminalStream = Writable & { readonly isTTY?: boolean }

/** Whoever read our output has gone away: there is nobody left to tell. */
export class BrokenPipeError extends Error {
  override readonly name = 'BrokenPipeError'
}

/** How a command answers: a document for programs, text for people, always without secrets. */
export interface Printer {
  readonly json: boolean
  /** The one answer. Only the asked-for form is made. */
  result(document: unknown, text: (paint: Paint) => string): Promise<void>
  /** What is known to hold no secret and must stay as it is, byte for byte. */
  asIs(text: string): Promise<void>
}

export interface PrinterDependencies {
  readonly stdout: TerminalStream
  readonly json: boolean
  readonly paint: Paint
  readonly knownSecrets: () => readonly string[]
}

export const printerTo = ({ stdout, json, paint, knownSecrets }: PrinterDependencies): Printer => ({
  json,
  result: (document, text) =>
    writeTo(
      stdout,
      json ? documentText(redactValue(document, knownSecrets())) : redactText(text(paint), knownSecrets()),
    ),
  asIs: (text) => writeTo(stdout, text),
})

export const documentText = (document: unknown): string => `${JSON.stringify(document, null, 2)}\n`

/** Resolves when the stream has taken the text, so that a slow reader slows us down. */
export const writeTo = (stream: TerminalStream, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error === null || error === undefined) resolve()
      else reject(isBrokenPipe(error) ? new BrokenPipeError('the reader has gone away') : error)
    })
  })

/** Writing reports its own errors; without a listener the same error would end the process. */
export const expectErrorsOf = (stream: TerminalStream): void => {
  stream.on('error', () => undefined)
}

const isBrokenPipe = (error: Error): boolean =>
  'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED')
