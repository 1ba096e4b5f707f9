import { Panel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'

export const Page = () => (
  <Panel title="Settings">
    <Empty title="Nothing here yet" />
  </Panel>
)
