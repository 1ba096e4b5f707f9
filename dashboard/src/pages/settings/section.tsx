import { ChevronRight } from 'lucide-react'
import { Badge } from '../../ui/badge.tsx'
import { Panel } from '../../ui/panel.tsx'
import { faultsAt } from './draft.ts'
import { FieldRow } from './field-row.tsx'
import { useForm } from './form.ts'
import { settingsIn, type SettingGroup, type SettingMember } from './settings.ts'

/** A section of the configuration: its settings, and below them its groups, closed until asked for. */
export const Section = ({ group }: { readonly group: SettingGroup }) => {
  const { faults } = useForm()
  // A fault of the group as a whole, such as weights that do not add up.
  const fault = faultsAt(
    faults.filter(({ loc }) => loc.slice(1).join('.') === group.key),
    group.key,
  )
  return (
    <Panel title={group.name} flush actions={<span className="text-muted">{group.description}</span>}>
      {fault === undefined ? null : (
        <p role="alert" className="border-b border-line bg-bad-soft px-3 py-2 text-[13px] text-bad">
          {fault}
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
  const { draft, faults } = useForm()
  const settings = settingsIn(group.members)
  const changed = settings.filter(({ key }) => draft.has(key)).length
  const isWrong = faultsAt(faults, group.key) !== undefined
  return (
    <details className="border-b border-line last:border-0" open={isWrong || undefined}>
      <summary className="flex flex-wrap items-center gap-2 px-3 py-2.5 text-[13px] hover:bg-raised">
        <ChevronRight
          className="size-4 text-muted transition-transform [details[open]>summary>&]:rotate-90"
          aria-hidden
        />
        <strong className="font-medium">{group.name}</strong>
        <span className="text-xs text-muted">{group.description}</span>
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
