import {
  Bell,
  BookOpenCheck,
  Brain,
  ChartCandlestick,
  FlaskConical,
  Gauge,
  HandCoins,
  Medal,
  Radio,
  Satellite,
  Settings,
  ShieldAlert,
  Users,
  type LucideIcon,
} from 'lucide-react'

export interface PageEntry {
  readonly path: string
  readonly label: string
  readonly icon: LucideIcon
  /** Pressed after `g`. */
  readonly key: string
  /** In the bar of a phone; the others are behind "More". */
  readonly isPrimary?: boolean
}

export const PAGES: readonly PageEntry[] = [
  { path: '/', label: 'Overview', icon: Gauge, key: 'o', isPrimary: true },
  { path: '/signals', label: 'Signals', icon: Radio, key: 's', isPrimary: true },
  { path: '/positions', label: 'Positions', icon: ChartCandlestick, key: 'p', isPrimary: true },
  { path: '/brain', label: 'Brain', icon: Brain, key: 'b' },
  { path: '/contributors', label: 'Contributors', icon: Users, key: 'c' },
  { path: '/authors', label: 'Authors', icon: Medal, key: 'h' },
  { path: '/producers', label: 'Producers', icon: Satellite, key: 'd' },
  { path: '/risk', label: 'Risk', icon: ShieldAlert, key: 'r' },
  { path: '/alerts', label: 'Alerts', icon: Bell, key: 'l' },
  { path: '/treasury', label: 'Treasury', icon: HandCoins, key: 't' },
  { path: '/backtests', label: 'Backtests', icon: FlaskConical, key: 'k' },
  { path: '/audit', label: 'Audit', icon: BookOpenCheck, key: 'a' },
  { path: '/settings', label: 'Settings', icon: Settings, key: 'e' },
]
