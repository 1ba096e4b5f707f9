import { bad, good, type Cell } from './table.ts'

export const usd = (value: number): string => `${value.toFixed(2)} USD`

export const percent = (share: number): string => `${(share * 100).toFixed(2)} %`

export const profit = (value: number): Cell => (value < 0 ? bad(usd(value)) : good(usd(value)))
