/** Everything that may go wrong, by name. A run has a part of them, chosen by its seed. */
export const FAULTS = {
  // The log.
  store_answer_lost: 'a batch is stored, and the answer is an error',
  sync_fails: 'a sync fails: the batch is stored or not, the answer is an error',
  disk_full: 'nothing can be stored for a while',
  failover: 'the database is away for some seconds, and batches under way may be stored or not',
  partition: 'one process does not reach the log for a while',
  power_cut: 'both processes end at once, and batches under way may be stored or not',
  // The processes.
  crash: 'a process ends between any two steps',
  restart: 'a process is stopped as an operator stops it, and started again',
  freeze: 'a process stands still for a while and goes on',
  lease_lost: 'the heartbeats of the leader get lost, and another leads',
  // The clock.
  clock_steps: 'the clock is set by up to two seconds',
  clock_jumps: 'the clock is set by up to an hour',
  // The feed.
  bar_gaps: 'a bar is missing, and comes later as a past one',
  bars_twice: 'a bar comes twice',
  bars_late: 'bars come late',
  spikes: 'a price far from all others, in a bar or between two',
  // The venue.
  request_lost: 'an order never arrives',
  request_late: 'an order arrives late, within the time in which the venue takes it',
  submit_stalls: 'an order waits on the machine, perhaps beyond its deadline',
  answer_lost: 'the venue takes an order, and its answer is lost',
  answer_late: 'the venue answers after the time-out',
  short_ban: 'the venue refuses everything for some seconds',
  long_ban: 'the venue refuses everything for minutes',
  refusals: 'the venue refuses an order',
  partial_fills: 'an order is filled in parts, now and later',
  late_trades: 'the venue lists the trades of an order later than the order',
  repeated_trades: 'the venue lists trades twice and in another order',
  hidden_orders: 'the venue does not find an order for a while',
  lookup_fails: 'the venue does not answer questions',
  liquidations: 'the venue closes a position by force',
  funding: 'the venue charges funding',
  early_liquidations: 'the venue closes a position by force right after it was opened, far from its price',
  silent_closes: 'the venue closes a position and lists nothing about it',
  exits_left_open: 'an exit is filled in part, and its rest stays open until it is canceled',
} as const

export type Fault = keyof typeof FAULTS

/** Off unless they are named: what the engine does not promise to survive. */
const NOT_BY_DEFAULT: ReadonlySet<Fault> = new Set<Fault>(['clock_jumps'])

export const ALL_FAULTS = Object.keys(FAULTS) as readonly Fault[]

export const DEFAULT_FAULTS: readonly Fault[] = ALL_FAULTS.filter((fault) => !NOT_BY_DEFAULT.has(fault))

/** `default`, `all`, or names: `default,long_ban`. */
export const faultsOf = (text: string): readonly Fault[] =>
  text.split(',').flatMap((name): readonly Fault[] => {
    if (name === 'default') return DEFAULT_FAULTS
    if (name === 'all') return ALL_FAULTS
    if (name === 'none') return []
    const fault = ALL_FAULTS.find((known) => known === name)
    if (fault === undefined) throw new Error(`no fault is named ${name}: ${ALL_FAULTS.join(', ')}`)
    return [fault]
  })
