import { valueAt } from '../../api/configuration.ts'
import { cx } from '../../ui/cx.ts'
import { TextField } from '../../ui/field.tsx'
import { Panel } from '../../ui/panel.tsx'
import { Differences } from './differences.tsx'
import { faultsAt, textOfValue } from './draft.ts'
import { isFixed, useForm, variableOf } from './form.ts'
import type { Setting } from './settings.ts'

const PRESETS = [
  ['conservative', 'No leverage, small positions, stops early. People count more than technical signals.'],
  ['balanced', 'The default: twice the equity at most, moderate limits.'],
  ['degen', 'Up to five times the equity, large positions, wide limits.'],
  ['custom', 'Adds nothing: only the defaults and your own settings count.'],
] as const

/** Weights and risk limits in one step. Settings of your own stay stronger. */
export const PresetSection = ({ setting }: { readonly setting: Setting }) => {
  const { configuration, form, draft, differences, faults, enter } = useForm()
  const chosen = draft.get(setting.key)?.text ?? textOfValue(setting, valueAt(configuration, setting.key))
  const isByEnvironment = isFixed(form, setting.key)
  const isOwn = PRESETS.every(([name]) => name !== chosen)
  return (
    <Panel title="Preset" actions={<span className="text-muted">Weights and risk limits in one step</span>}>
      <div className="grid gap-3">
        <fieldset className="grid gap-2 sm:grid-cols-2" disabled={isByEnvironment}>
          <legend className="sr-only">Preset</legend>
          {PRESETS.map(([name, text]) => (
            <label
              key={name}
              className={cx(
                'flex cursor-pointer gap-2.5 rounded-lg border p-3',
                chosen === name ? 'border-accent bg-accent-soft' : 'border-line hover:bg-raised',
              )}
            >
              <input
                type="radio"
                name="preset"
                className="mt-1 accent-(--accent)"
                checked={chosen === name}
                onChange={() => enter(setting, name)}
              />
              <span>
                <strong className="font-medium">{name}</strong>
                <span className="block text-xs text-muted">{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <TextField
          label="A preset of your own"
          hint="The name of a file in config/presets, without .yaml"
          fault={faultsAt(faults, setting.key)}
          value={isOwn ? chosen : ''}
          disabled={isByEnvironment}
          maxLength={64}
          className="max-w-72"
          onChange={(event) => enter(setting, event.target.value)}
        />
        <p className="text-xs text-muted">
          {isByEnvironment
            ? `${variableOf(setting.key)} decides; change it there.`
            : 'What you set by hand stays stronger than a preset.'}
        </p>
        {draft.has(setting.key) && differences.length > 0 ? (
          <section className="grid gap-2">
            <h3 className="text-[13px] font-medium">What would change</h3>
            <ul className="grid gap-2 sm:grid-cols-2 xl:grid-cols-3">
              <Differences />
            </ul>
          </section>
        ) : null}
      </div>
    </Panel>
  )
}
