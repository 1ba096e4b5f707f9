import { api } from '../../api/client.ts'
import { Form, formErrors, RegisterDialog, useDraft } from '../../app/forms.tsx'
import { useAction } from '../../app/use-action.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { OptionList, SelectField, TextField } from '../../ui/field.tsx'

const STRATEGIES = ['brain', 'momentum', 'ma_crossover', 'hold']

const KINDS = [
  ['backtest', 'One backtest'],
  ['sweep', 'A sweep over values'],
] as const

const RESETS = [
  ['yes', 'A simulated operator lowers it at every midnight'],
  ['no', 'Stay where it is'],
] as const

export const StartRun = () => (
  <RegisterDialog
    title="New backtest"
    description="It runs beside the service, with the settings as they are now and paper money."
  >
    {(onDone) => <StartForm onDone={onDone} />}
  </RegisterDialog>
)

const EMPTY = {
  kind: 'backtest',
  strategy: 'ma_crossover',
  parameters: '',
  data: '',
  symbol: '',
  from: '',
  to: '',
  reset: 'yes',
}

const StartForm = ({ onDone }: { readonly onDone: () => void }) => {
  const { draft, input } = useDraft(EMPTY)
  const [, open] = useUrlState('run')
  const isSweep = draft.kind === 'sweep'
  const action = useAction({
    send: (_input: void, headers) => {
      const common = commonOf(draft)
      const words = wordsOf(draft.parameters)
      return isSweep
        ? api.POST('/sweeps', { body: { ...common, set: [...words] }, headers })
        : api.POST('/backtests', { body: { ...common, parameters: parametersOf(words) }, headers })
    },
    done: () => 'The run is queued',
    after: ({ id }) => {
      onDone()
      open(id)
    },
    refreshes: ['backtests'],
    quiet: true,
  })
  const errors = formErrors(action.error)
  return (
    <Form
      submitLabel="Start"
      error={errors.rest}
      isBusy={action.isPending}
      isReady={!isSweep || draft.parameters.trim() !== ''}
      onSubmit={action.run}
      onCancel={onDone}
    >
      <SelectField label="What" options={KINDS} {...input('kind')} />
      <TextField
        label="Strategy"
        {...input('strategy', errors)}
        list="backtest-strategies"
        required
        maxLength={64}
        autoFocus
        autoComplete="off"
      />
      <datalist id="backtest-strategies">
        <OptionList options={STRATEGIES} />
      </datalist>
      <TextField
        label="Parameters"
        hint={
          isSweep ? 'Values, such as fast=5..50:5 slow=60,120' : 'Such as fast=10 slow=50; empty: as they are'
        }
        {...input('parameters', errors)}
        error={errors.of('parameters') ?? errors.of('set')}
        spellCheck={false}
        autoComplete="off"
      />
      <TextField
        label="Recorded bars"
        hint="Series of “svc data list”, such as binance:BTC:5m; empty: the configured or a simulated market"
        {...input('data', errors)}
        spellCheck={false}
        autoComplete="off"
      />
      <TextField
        label="Symbol"
        hint="Only this one, where no recorded bars are named"
        {...input('symbol', errors)}
        maxLength={32}
        autoComplete="off"
      />
      <div className="grid grid-cols-2 gap-3">
        <TextField label="From" type="date" {...input('from', errors)} />
        <TextField label="To" type="date" {...input('to', errors)} />
      </div>
      <SelectField label="Kill switch" options={RESETS} {...input('reset')} />
    </Form>
  )
}

const commonOf = ({ strategy, data, symbol, from, to, reset }: typeof EMPTY) => ({
  strategy: strategy.trim(),
  data: [...wordsOf(data.replaceAll(',', ' '))],
  recorded: false,
  reset_daily: reset === 'yes',
  ...(symbol.trim() === '' ? {} : { symbol: symbol.trim() }),
  ...(from === '' ? {} : { from }),
  // The day is included.
  ...(to === '' ? {} : { to: `${to}T23:59:59.999Z` }),
})

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '')

const parametersOf = (words: readonly string[]): Record<string, string | number | boolean> =>
  Object.fromEntries(
    words.map((word) => {
      const [name = '', ...value] = word.split('=')
      return [name, valueOf(value.join('='))]
    }),
  )

const valueOf = (text: string): string | number | boolean => {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
