import { z } from 'zod'
import type { Command } from './decide.ts'
import { compacted, expanded } from './log/compact.ts'
import type { Stamped } from './log/event.ts'
import { assert } from './shared/assert.ts'
import type { Json } from './shared/json.ts'
import type { Timestamp } from './shared/brand.ts'
import { timestamp } from './shared/time.ts'

/*
 * The commands of a batch, as text beside its events. With the state before the batch and the settings of that time,
 * the text holds everything that the decisions read, so that `runRequest` makes the same events again:
 *
 *     {"seed":"019b…","config":"6f1c…","version":"0.2.0","commands":[{"events":2,"command":{"kind":"submit-signal",…}}]}
 *
 * Ids are derived from the seed. The signature of the batch covers the text.
 */

/** Inputs of the decisions of a batch, beside the state and their commands. */
export interface BatchInputs {
  /** A UUIDv7, from which the ids of the batch are derived. */
  readonly seed: string
  /** First digits of the hash of the configuration. */
  readonly config: string
  readonly version: string
  /** Time of the decision, if it differs from the time of recording. */
  readonly now?: Timestamp | undefined
}

/** A command that led to events, with what belongs to its request. */
export interface RequestMade {
  readonly command: Command
  /** Command of the same request whose events follow: the audit entry. */
  readonly alongside: Command | null
  readonly traceId: string | null
  /** Durations in milliseconds that the decision recorded. */
  readonly elapsedMs: readonly number[]
  /** All events of the request, in log order. At least one. */
  readonly events: readonly Stamped[]
}

/** A request as it is read from the log. The command is null if it was too large to store. */
export type RequestRead = Omit<RequestMade, 'command'> & { readonly command: Command | null }

export interface StoredCommands {
  readonly inputs: BatchInputs
  readonly requests: readonly RequestRead[]
}

/** A request as it is stored. */
export type StoredRequest = ReturnType<typeof storedRequest>

/** Digits of the hash of a configuration that a batch stores. They identify one of the few settings in the log. */
const CONFIG_DIGITS = 16

export const configDigitsOf = (configHash: string): string => configHash.slice(0, CONFIG_DIGITS)

/** A request without what its events hold already. Throws for a command that is not plain data. */
export const storedRequest = ({ command, alongside, traceId, elapsedMs, events }: RequestMade) => {
  const json = compacted(command, events)
  const isTooLarge =
    JSON.stringify(json).length > COMMAND_LENGTH_MAX + COMMAND_LENGTH_PER_EVENT * events.length
  return {
    events: events.length,
    ...(traceId === events[0]?.traceId ? {} : { trace: traceId }),
    ...(elapsedMs.length === 0 ? {} : { elapsed: elapsedMs }),
    command: isTooLarge ? null : json,
    ...(alongside === null ? {} : { alongside: compacted(alongside, events) }),
  }
}

/**
 * Characters of a stored command. A producer can send a megabyte of rows that are all rejected and leave one event: the
 * log must not grow by what it refuses. Such a command is left out, and the audit counts its events.
 */
const COMMAND_LENGTH_MAX = 16_384
const COMMAND_LENGTH_PER_EVENT = 1024

/** The commands of a batch as they are stored. */
export const commandsText = (inputs: BatchInputs, requests: readonly StoredRequest[]): string =>
  JSON.stringify({ ...inputs, commands: requests })

const storedText = z.object({
  seed: z.string().length(36),
  config: z.string(),
  version: z.string(),
  now: timestamp().optional(),
  commands: z.array(
    z.object({
      events: z.int().min(1),
      trace: z.string().nullable().optional(),
      elapsed: z.array(z.number()).default([]),
      command: z.custom<Json>(),
      alongside: z.custom<Json>().optional(),
    }),
  ),
})

/** The commands of a batch with these events, or null if the text is not what `commandsText` writes. */
export const parseCommands = (text: string, events: readonly Stamped[]): StoredCommands | null => {
  try {
    const { commands, ...inputs } = storedText.parse(JSON.parse(text))
    let next = 0
    const requests = commands.map(({ events: count, trace, elapsed, command, alongside }): RequestRead => {
      const own = events.slice(next, next + count)
      next += count
      return {
        command: command === null ? null : (expanded(command, own) as Command),
        alongside: alongside === undefined ? null : (expanded(alongside, own) as Command),
        traceId: trace === undefined ? (own[0]?.traceId ?? null) : trace,
        elapsedMs: elapsed,
        events: own,
      }
    })
    return next === events.length ? { inputs, requests } : null
  } catch {
    // The signature covers the text, so its writer has not stored a text of this format.
    return null
  }
}

/**
 * The ids of a command: those of its events, in order, sort behind those of the commands before it. `place` is the index of
 * the command among those of its batch that led to events. An id is the seed, with its last 8 digits replaced: 3 for the
 * place, 5 for the event. The seeds of a process increase before these digits.
 */
export const idsOf = (seed: string, place: number): (() => string) => {
  const prefix = seed.slice(0, -ID_DIGITS) + hexOf(place, PLACE_DIGITS)
  let count = 0
  return () => prefix + hexOf((count += 1), ID_DIGITS - PLACE_DIGITS)
}

const ID_DIGITS = 8
const PLACE_DIGITS = 3

const hexOf = (value: number, digits: number): string => {
  const text = value.toString(16).padStart(digits, '0')
  assert(text.length === digits, `${value} ids are more than a batch may have`)
  return text
}
