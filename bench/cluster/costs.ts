/** What a message costs the parts of a cluster, out of what was measured under several loads (`spread`). */
import type { SpreadLoad, SpreadSample } from '../samples/spread.ts'

/** A cost that falls as more messages share a transaction, us of CPU. */
export interface SharedCost {
  /** for each message */
  readonly message: number
  /** for each transaction */
  readonly transaction: number
}

/** CPU times in us */
export interface ClusterCosts {
  readonly host: SharedCost
  /** a host that hands a message on, in all */
  readonly handing: number
  /** the owner, more than for a message that comes from a client; below 0 when it costs less */
  readonly handed: number
  readonly server: SharedCost
  readonly sender: number
  /** us a second for each host, whether messages come or not */
  readonly upkeep: { readonly host: number; readonly server: number }
}

interface Point {
  /** transactions a message */
  readonly share: number
  /** us of CPU a message */
  readonly cost: number
  readonly messages: number
}

/** Throws an Error when no sample has messages that were sent to their owners and some that were handed on. */
export function costsOf(samples: readonly SpreadSample[]): ClusterCosts {
  const upkeep = {
    host: mean(samples.map(({ idle }) => idle.host)),
    server: mean(samples.map(({ idle, hosts }) => idle.server / hosts)),
  }
  const loads = samples.flatMap((sample) => sample.loads)
  const direct = loads.filter(({ way }) => way === 'owner')
  const host = lineThrough(direct.map((load) => pointOf(load, sumOf(load.hosts), load.hosts.length * upkeep.host)))
  const server = lineThrough(direct.map((load) => pointOf(load, load.server, load.hosts.length * upkeep.server)))
  const handed = loads.filter(({ way }) => way === 'handed')
  const messages = sumOf(handed.map((load) => load.messages))
  if (messages === 0) throw new Error('no messages that were handed on were measured')
  const first = handed.map(({ hosts, seconds }) => (hosts[0] ?? 0) - upkeep.host * seconds)
  const more = handed.map((load) => {
    const { hosts, seconds, messages: taken, transactions } = load
    return (hosts.at(-1) ?? 0) - upkeep.host * seconds - host.message * taken - host.transaction * transactions
  })
  return {
    host,
    server,
    handing: sumOf(first) / messages,
    handed: sumOf(more) / messages,
    sender: sumOf(direct.map(({ sender }) => sender)) / sumOf(direct.map((load) => load.messages)),
    upkeep,
  }
}

/** `upkeep`: us a second that are none of the messages' */
function pointOf({ messages, seconds, transactions }: SpreadLoad, us: number, upkeep: number): Point {
  return { messages, share: transactions / messages, cost: (us - upkeep * seconds) / messages }
}

/**
 * The line with the least squares, each point weighing as much as it has messages: `cost = message + transaction * share`.
 * Neither is below 0. Throws an Error for fewer than two shares.
 */
export function lineThrough(points: readonly Point[]): SharedCost {
  const weight = sumOf(points.map(({ messages }) => messages))
  const meanOf = (key: 'share' | 'cost'): number => sumOf(points.map((point) => point[key] * point.messages)) / weight
  const [share, cost] = [meanOf('share'), meanOf('cost')]
  const square = sumOf(points.map((point) => point.messages * (point.share - share) ** 2))
  if (!(square > 0)) throw new Error('costs were measured at one share of transactions only')
  const product = sumOf(points.map((point) => point.messages * (point.share - share) * (point.cost - cost)))
  const slope = product / square
  const start = cost - slope * share
  if (slope < 0) return { message: cost, transaction: 0 }
  return start < 0 ? { message: 0, transaction: cost / share } : { message: start, transaction: slope }
}

export const sumOf = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0)
const mean = (values: readonly number[]): number => sumOf(values) / values.length
