import { createContext, useContext } from 'react'
import type { Fault } from '../../api/client.ts'
import type { Configuration, ConfigurationForm } from '../../api/log.ts'
import type { Difference, Draft } from './draft.ts'
import type { Setting } from './settings.ts'

/** Everything that a single field needs to know of the whole form. */
export interface FormState {
  readonly configuration: Configuration
  readonly form: ConfigurationForm
  readonly draft: Draft
  readonly faults: readonly Fault[]
  /** What the draft would really change; empty while that is not known. */
  readonly differences: readonly Difference[]
  readonly enter: (setting: Setting, text: string) => void
  /** Back to what the default and the preset say. */
  readonly reset: (setting: Setting) => void
}

export const FormContext = createContext<FormState | null>(null)

export const useForm = (): FormState => {
  const form = useContext(FormContext)
  if (form === null) throw new Error('there is no form around this field')
  return form
}

export const needsRestart = ({ restart_keys }: ConfigurationForm, key: string): boolean =>
  isAmong(restart_keys, key)

export const waitsForRestart = ({ waiting_for_restart }: ConfigurationForm, key: string): boolean =>
  isAmong(waiting_for_restart, key)

export const isFixed = ({ set_by_environment }: ConfigurationForm, key: string): boolean =>
  isAmong(set_by_environment, key)

/** A group of settings in one value has its keys below its own. */
const isAmong = (keys: readonly string[], key: string): boolean =>
  keys.some((one) => one === key || one.startsWith(`${key}.`))

export const variableOf = (key: string): string => `SVC_${key.replaceAll('.', '__').toUpperCase()}`
