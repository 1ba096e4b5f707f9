import { AccountPanel } from './account-panel.tsx'
import { AlertsPanel } from './alerts-panel.tsx'
import { BrainPanel } from './brain-panel.tsx'
import { EquityPanel } from './equity-panel.tsx'
import { HealthPanel } from './health-panel.tsx'
import { LimitsPanel } from './limits-panel.tsx'
import { PositionsPanel } from './positions-panel.tsx'
import { SignalsPanel } from './signals-panel.tsx'

/** Where the account stands, what is open, what the brain thinks, and whether everything works. */
export const Page = () => (
  <div className="grid gap-3 lg:grid-cols-12">
    <AccountPanel className="lg:col-span-12" />
    <EquityPanel className="lg:col-span-8" />
    <div className="grid content-start gap-3 lg:col-span-4">
      <LimitsPanel />
      <BrainPanel />
    </div>
    <PositionsPanel className="lg:col-span-8" />
    <AlertsPanel className="lg:col-span-4" />
    <SignalsPanel className="lg:col-span-8" />
    <HealthPanel className="lg:col-span-4" />
  </div>
)
