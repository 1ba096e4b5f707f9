import { Panel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'
import { FieldRow } from './field-row.tsx'
import { settingsIn, type SettingMember } from './settings.ts'

const SHOWN_MAX = 40

/** Settings of all sections in which every word of the search occurs. */
export const SearchResults = ({
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
        <Empty title="No setting is called so">Try a part of its key, such as “leverage” or “token”.</Empty>
      ) : (
        found.slice(0, SHOWN_MAX).map((setting) => <FieldRow key={setting.key} setting={setting} />)
      )}
      {found.length > SHOWN_MAX ? (
        <p className="px-3 py-2 text-xs text-muted">{found.length - SHOWN_MAX} more: search for more words</p>
      ) : null}
    </Panel>
  )
}
