import type { PayloadOf } from '../events/catalogue.ts'
import type { Decision } from '../shared/decision.ts'
import type { DecisionContext } from '../shared/decision-context.ts'
import { accrueShares, receiptSignerOf } from './accrue.ts'
import type { TreasuryFacts } from './evolve.ts'
import { settleDueShares, type SettlementRequest, type SettlementStatus, settleShares } from './settle.ts'
import { migrateWallet, type Migration } from './wallet.ts'

export type TreasuryCommand =
  | { readonly kind: 'accrue-shares'; readonly close: PayloadOf<'execution.position_closed.v1'> }
  | {
      readonly kind: 'settle-shares'
      readonly request: SettlementRequest
      readonly status: SettlementStatus
    }
  | { readonly kind: 'settle-due-shares' }
  | { readonly kind: 'migrate-wallet'; readonly migration: Migration }

export const decideTreasury = (
  facts: TreasuryFacts,
  command: TreasuryCommand,
  context: DecisionContext,
): Decision => {
  switch (command.kind) {
    case 'accrue-shares':
      return accrueShares(facts, command.close, context)
    case 'settle-shares':
      return settleShares(facts.treasury, command.request, command.status, {
        rules: context.configuration.karma,
        receiptSigner: receiptSignerOf(context),
      })
    case 'settle-due-shares':
      return settleDueShares(facts.treasury, context)
    case 'migrate-wallet':
      return migrateWallet(facts.treasury, command.migration)
  }
}
