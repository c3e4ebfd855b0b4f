/** Costs of a message in the parts of a cluster, derived from measurements under several loads (`spread`). */
import type { SpreadLoad, SpreadSample } from '../samples/spread.ts'

/** Cost that falls as more messages share a transaction, us of CPU. */
export interface SharedCost {
  readonly message: number
  readonly transaction: number
}

/** CPU times in us */
export interface ClusterCosts {
  readonly host: SharedCost
  readonly handing: number
  /** additional cost of the owner for a forwarded message; below 0 when cheaper */
  readonly handed: number
  readonly server: SharedCost
  readonly sender: number
  /** us per second and host, with or without messages */
  readonly upkeep: { readonly host: number; readonly server: number }
}

interface Point {
  /** transactions per message */
  readonly share: number
  readonly cost: number
  readonly messages: number
}

/** Throws an Error without samples of both direct and forwarded messages. */
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

/** `upkeep`: us per second independent of messages */
function pointOf({ messages, seconds, transactions }: SpreadLoad, us: number, upkeep: number): Point {
  return { messages, share: transactions / messages, cost: (us - upkeep * seconds) / messages }
}

/**
 * Least-squares line weighted by messages: `cost = message + transaction * share`, neither below 0. Throws an Error
 * below two shares.
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
