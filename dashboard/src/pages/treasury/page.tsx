import { useQuery } from '@tanstack/react-query'
import { queries } from '../../api/queries.ts'
import { useUrlState } from '../../app/use-url-state.ts'
import { IntentDetails, ReceiptDetails } from './details.tsx'
import { IntentsPanel } from './intents-panel.tsx'
import { ReceiptsPanel } from './receipts-panel.tsx'
import { SummaryPanel } from './summary-panel.tsx'
import { WalletPanel } from './wallet-panel.tsx'

/** What winning trades owe to those whose signals made them, and what was paid. */
export const Page = () => {
  const [opened, open] = useUrlState('item')
  return (
    <div className="grid gap-3 lg:grid-cols-12">
      <SummaryPanel className="lg:col-span-8" />
      <WalletPanel className="lg:col-span-4" />
      <IntentsPanel className="lg:col-span-12" onOpen={({ id }) => open(id)} />
      <ReceiptsPanel className="lg:col-span-12" onOpen={({ id }) => open(id)} />
      <Opened id={opened} onClose={() => open('')} />
    </div>
  )
}

const Opened = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { data: intents } = useQuery(queries.karmaIntents())
  const { data: receipts } = useQuery(queries.karmaReceipts())
  const intent = intents?.items.find((one) => one.id === id)
  if (intent !== undefined) return <IntentDetails item={intent} onClose={onClose} />
  const receipt = receipts?.items.find((one) => one.id === id)
  return receipt === undefined ? null : <ReceiptDetails item={receipt} onClose={onClose} />
}
