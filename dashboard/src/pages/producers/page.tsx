import { ProducerSheet } from './producer-sheet.tsx'
import { ProducersPanel } from './producers-panel.tsx'
import { RegisterProducer } from './register-dialog.tsx'
import { RunsPanel } from './runs-panel.tsx'
import { SummaryPanel } from './summary-panel.tsx'

/** Where signals come from, and whether they still come. */
export const Page = () => (
  <div className="grid gap-3 lg:grid-cols-12">
    <SummaryPanel className="lg:col-span-12" />
    <ProducersPanel className="lg:col-span-12" />
    <RunsPanel className="lg:col-span-12" />
    <ProducerSheet />
    <RegisterProducer />
  </div>
)
