import { Panel } from '../../ui/panel.tsx'
import { Empty } from '../../ui/states.tsx'

export const Page = () => (
  <Panel title="Positions">
    <Empty title="Nothing here yet" />
  </Panel>
)
