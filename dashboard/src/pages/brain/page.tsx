import { ConvictionsPanel } from './convictions-panel.tsx'
import { CycleSheet } from './cycle-sheet.tsx'
import { CyclesPanel } from './cycles-panel.tsx'
import { FunnelPanel } from './funnel-panel.tsx'
import { IntentsPanel } from './intents-panel.tsx'
import { RegimePanel } from './regime-panel.tsx'
import { StatePanel } from './state-panel.tsx'
import { WeightsPanel } from './weights-panel.tsx'
import { WhySheet } from './why-sheet.tsx'

/** What the brain thinks, why, and what became of it. */
export const Page = () => (
  <div className="grid gap-3 lg:grid-cols-12">
    <StatePanel className="lg:col-span-12" />
    <ConvictionsPanel className="lg:col-span-12" />
    <FunnelPanel className="lg:col-span-5" />
    <IntentsPanel className="lg:col-span-7" />
    <CyclesPanel className="lg:col-span-12" />
    <RegimePanel className="lg:col-span-6" />
    <WeightsPanel className="lg:col-span-6" />
    <CycleSheet />
    <WhySheet />
  </div>
)
