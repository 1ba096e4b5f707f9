import { useQuery } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { queries } from '../../api/queries.ts'
import type { Configuration, ConfigurationSchema } from '../../api/types.ts'
import { confirm } from '../../app/prompts.tsx'
import { useUrlState } from '../../app/use-url-state.ts'
import { Badge } from '../../ui/badge.tsx'
import { cx } from '../../ui/cx.ts'
import { inputClass } from '../../ui/field.tsx'
import { DataAge, Panel, QueryContent } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { ChangesBar, RestartNote } from './changes-bar.tsx'
import {
  differencesOf,
  type Draft,
  type Entry,
  errorsAt,
  FormContext,
  type FormState,
  useCheck,
  useForm,
  valueOfText,
  withEntry,
} from './draft.ts'
import { FieldRow } from './field-row.tsx'
import { NodeSection } from './node-section.tsx'
import { PresetSection, ReviewDialog } from './review-dialog.tsx'
import {
  readSettings,
  type Setting,
  type SettingGroup,
  type SettingMember,
  settingsIn,
  valueAt,
} from './settings.ts'

/** The configuration form, built from the schema of the service. */
export const Page = () => {
  const configuration = useQuery(queries.config())
  const schema = useQuery(queries.configSchema())
  return (
    <QueryContent query={schema} what="the settings">
      {(described) => (
        <QueryContent query={configuration} what="the configuration">
          {(values) => (
            <ConfigurationForm
              schema={described}
              configuration={values}
              age={<DataAge query={configuration} />}
            />
          )}
        </QueryContent>
      )}
    </QueryContent>
  )
}

const NO_DRAFT: Draft = new Map()
const NODE = 'node'

interface ConfigurationFormProps {
  readonly schema: ConfigurationSchema
  readonly configuration: Configuration
  readonly age: ReactNode
}

const ConfigurationForm = ({ schema, configuration, age }: ConfigurationFormProps) => {
  const members = useMemo(() => readSettings(schema.schema), [schema.schema])
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
    schema,
    draft,
    errors: check.errors,
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
      isWrong: errorsAt(check.errors, section.key) !== undefined,
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
          <p className="px-2.5 text-xs empty:hidden">{age}</p>
        </div>
        <div className="grid min-w-0 content-start gap-3">
          <RestartNote keys={schema.waiting_for_restart} />
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

/** Leaving the page discards the draft, so it asks first. Sections keep it. */
const useLeavingGuard = (hasChanges: boolean): void => {
  useBlocker({
    shouldBlockFn: async ({ current, next }) => {
      if (!hasChanges || current.pathname === next.pathname) return false
      const answer = await confirm({
        title: 'Leave without saving?',
        text: 'Your unsaved changes would be lost.',
        confirmLabel: 'Leave',
        look: 'danger',
      })
      return answer === null
    },
    enableBeforeUnload: hasChanges,
  })
}

interface SectionEntry {
  readonly id: string
  readonly name: string
  /** Unsaved. */
  readonly changed: number
  readonly isWrong: boolean
}

interface SectionListProps {
  readonly sections: readonly SectionEntry[]
  readonly current: string
  readonly onChoose: (id: string) => void
}

/** All sections: a list beside the form, a choice above it on phones. */
const SectionList = ({ sections, current, onChoose }: SectionListProps) => (
  <>
    <select
      aria-label="Section"
      value={current}
      className={cx(inputClass, 'lg:hidden')}
      onChange={(event) => onChoose(event.target.value)}
    >
      {sections.map(({ id, name, changed }) => (
        <option key={id} value={id}>
          {name}
          {changed === 0 ? '' : ` (${changed} changed)`}
        </option>
      ))}
    </select>
    <nav aria-label="Sections" className="grid gap-px max-lg:hidden">
      {sections.map(({ id, name, changed, isWrong }) => (
        <button
          key={id}
          type="button"
          aria-current={id === current ? 'true' : undefined}
          className={cx(
            'flex items-center justify-between gap-2 rounded-md px-2.5 py-1 text-left text-[13px]',
            id === current
              ? 'bg-accent-soft font-medium text-accent'
              : 'text-muted hover:bg-raised hover:text-text',
          )}
          onClick={() => onChoose(id)}
        >
          {name}
          {changed === 0 ? null : (
            <span className={cx('text-xs', isWrong ? 'text-bad' : 'text-accent')}>
              {changed}
              <span className="sr-only">{isWrong ? ' changed, not valid' : ' changed'}</span>
            </span>
          )}
        </button>
      ))}
    </nav>
  </>
)

/** A section of the configuration: its settings, followed by its groups, which are closed initially. */
const Section = ({ group }: { readonly group: SettingGroup }) => {
  const { errors } = useForm()
  // An error of the group as a whole, such as weights that do not add up.
  const error = errorsAt(
    errors.filter(({ loc }) => loc.slice(1).join('.') === group.key),
    group.key,
  )
  return (
    <Panel title={group.name} flush actions={<span className="text-muted">{group.description}</span>}>
      {error === undefined ? null : (
        <p role="alert" className="border-b border-line bg-bad-soft px-3 py-2 text-[13px] text-bad">
          {error}
        </p>
      )}
      <Members members={group.members} />
    </Panel>
  )
}

const Members = ({ members }: { readonly members: readonly SettingMember[] }) =>
  members.map((member) =>
    member.kind === 'setting' ? (
      <FieldRow key={member.key} setting={member} />
    ) : (
      <Subgroup key={member.key} group={member} />
    ),
  )

const Subgroup = ({ group }: { readonly group: SettingGroup }) => {
  const { draft, errors } = useForm()
  const settings = settingsIn(group.members)
  const changed = settings.filter(({ key }) => draft.has(key)).length
  const isWrong = errorsAt(errors, group.key) !== undefined
  return (
    <details className="border-b border-line last:border-0" open={isWrong || undefined}>
      <summary className="flex flex-wrap items-center gap-2 px-3 py-2.5 text-[13px] hover:bg-raised">
        <ChevronRight
          className="size-4 text-muted transition-transform [details[open]>summary>&]:rotate-90"
          aria-hidden
        />
        <strong className="font-medium">{group.name}</strong>
        <span className="text-xs text-muted max-sm:order-1 max-sm:basis-full">{group.description}</span>
        <span className="ml-auto flex gap-1.5">
          {changed === 0 ? null : <Badge tone="accent">{changed} changed</Badge>}
          {isWrong ? <Badge tone="bad">not valid</Badge> : null}
          <Badge>{settings.length}</Badge>
        </span>
      </summary>
      <div className="ml-3 border-l-2 border-line">
        <Members members={group.members} />
      </div>
    </details>
  )
}

const SHOWN_MAX = 40

/** Settings of all sections in which every word of the search occurs. */
const SearchResults = ({
  members,
  search,
}: {
  readonly members: readonly SettingMember[]
  readonly search: string
}) => {
  const words = search.toLowerCase().split(/\s+/)
  const found = settingsIn(members).filter(({ key, name, description }) => {
    const text = `${key} ${name} ${description}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  return (
    <Panel
      title="Found"
      flush
      actions={
        <span className="text-muted">{found.length === 1 ? '1 setting' : `${found.length} settings`}</span>
      }
    >
      {found.length === 0 ? (
        <Empty title="No matching settings">Try a part of its key, such as “leverage” or “token”.</Empty>
      ) : (
        found.slice(0, SHOWN_MAX).map((setting) => <FieldRow key={setting.key} setting={setting} />)
      )}
      {found.length > SHOWN_MAX ? (
        <p className="px-3 py-2 text-xs text-muted">{found.length - SHOWN_MAX} more: refine the search</p>
      ) : null}
    </Panel>
  )
}
