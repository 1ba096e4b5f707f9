import { useBlocker } from '@tanstack/react-router'
import { useMemo, useState, type ReactNode } from 'react'
import { valueAt } from '../../api/configuration.ts'
import type { Configuration, ConfigurationForm as Form } from '../../api/log.ts'
import { confirm } from '../../app/confirm.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { inputClass } from '../../ui/field.tsx'
import { ChangesBar } from './changes-bar.tsx'
import { differencesOf, faultsAt, valueOfText, withEntry, type Draft, type Entry } from './draft.ts'
import { FormContext, type FormState } from './form.ts'
import { NodeSection } from './node-section.tsx'
import { PresetSection } from './preset-section.tsx'
import { RestartNote } from './restart-note.tsx'
import { ReviewDialog } from './review-dialog.tsx'
import { SearchResults } from './search-results.tsx'
import { SectionList } from './section-list.tsx'
import { Section } from './section.tsx'
import { readSettings, settingsIn, type Setting, type SettingMember } from './settings.ts'
import { useCheck } from './use-check.ts'

const NO_DRAFT: Draft = new Map()
const NODE = 'node'

interface ConfigurationFormProps {
  readonly form: Form
  readonly configuration: Configuration
  readonly age: ReactNode
}

export const ConfigurationForm = ({ form, configuration, age }: ConfigurationFormProps) => {
  const members = useMemo(() => readSettings(form.schema), [form.schema])
  const [draft, setDraft] = useState(NO_DRAFT)
  const [search, setSearch] = useState('')
  const [isReviewing, setReviewing] = useState(false)
  const [sectionId, chooseSection] = useUrlState('section', members[0]?.key ?? NODE)
  const check = useCheck(draft)
  useLeavingGuard(draft.size > 0)

  const change = (setting: Setting, entry: Entry): void => {
    const current = setting.type === 'secret' ? '' : valueAt(configuration, setting.key)
    setDraft((known) => withEntry(known, { key: setting.key, entry, current }))
  }
  const state: FormState = {
    configuration,
    form,
    draft,
    faults: check.faults,
    differences: check.after === null ? [] : differencesOf(settingsIn(members), configuration, check.after),
    enter: (setting, text) => change(setting, { text, value: valueOfText(setting, text) }),
    reset: (setting) => change(setting, { text: '', value: null }),
  }
  const saved = (): void => {
    setReviewing(false)
    setDraft(NO_DRAFT)
  }
  const sections = [
    ...members.map((section) => ({
      id: section.key,
      name: section.name,
      changed: settingsIn([section]).filter(({ key }) => draft.has(key)).length,
      isWrong: faultsAt(check.faults, section.key) !== undefined,
    })),
    { id: NODE, name: 'This node', changed: 0, isWrong: false },
  ]
  const member = members.find(({ key }) => key === sectionId)
  return (
    <FormContext value={state}>
      <div className="grid gap-3 lg:grid-cols-[13rem_minmax(0,1fr)]">
        <div className="grid content-start gap-2 lg:sticky lg:top-16 lg:self-start">
          <input
            type="search"
            aria-label="Search settings"
            placeholder="Search settings"
            value={search}
            className={inputClass}
            onChange={(event) => setSearch(event.target.value)}
          />
          <SectionList
            sections={sections}
            current={search === '' ? sectionId : ''}
            onChoose={(id) => {
              setSearch('')
              chooseSection(id)
            }}
          />
          <p className="px-2.5 text-xs text-muted">Configuration {age}</p>
        </div>
        <div className="grid min-w-0 content-start gap-3">
          <RestartNote keys={form.waiting_for_restart} />
          {search === '' ? <Chosen member={member} /> : <SearchResults members={members} search={search} />}
          <ChangesBar
            draft={draft}
            check={check}
            onReview={() => setReviewing(true)}
            onDiscard={() => setDraft(NO_DRAFT)}
          />
        </div>
      </div>
      {isReviewing ? <ReviewDialog onSaved={saved} onClose={() => setReviewing(false)} /> : null}
    </FormContext>
  )
}

const Chosen = ({ member }: { readonly member: SettingMember | undefined }) => {
  if (member === undefined) return <NodeSection />
  return member.kind === 'group' ? <Section group={member} /> : <PresetSection setting={member} />
}

/** Other pages forget the draft, so leaving asks first. Other sections keep it. */
const useLeavingGuard = (hasChanges: boolean): void => {
  useBlocker({
    shouldBlockFn: async ({ current, next }) => {
      if (!hasChanges || current.pathname === next.pathname) return false
      const answer = await confirm({
        title: 'Leave without saving?',
        text: 'What you changed here is not saved yet and would be lost.',
        confirmLabel: 'Leave',
        look: 'danger',
      })
      return answer === null
    },
    enableBeforeUnload: hasChanges,
  })
}
