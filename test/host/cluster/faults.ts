/**
 * Runs the cluster of the long run: hosts with their own database connections and wrong clocks, and faults that happen
 * to the hosts.
 */
import { scheduler } from 'node:timers/promises'
import { randomOf, nextSeed } from '../../../src/kernel/random.ts'
import type { ClusterProcesses, MemberProcess } from './cluster-processes.ts'
import type { PostgresPair } from './postgres-pair.ts'

const HOSTS = 3
/** Maximum error of the hosts' clocks in ms: hosts reject a larger one */
const MAX_SKEW = 700
const MAX_HALT = 8_000
const MAX_CUT = 6_000

interface Member {
  readonly process: MemberProcess
  readonly way: Awaited<ReturnType<PostgresPair['way']>>
}

interface Fault {
  readonly what: string
  readonly happen: () => Promise<void>
}

export class FaultyCluster {
  /** Hosts that should be able to answer */
  readonly asked = new Set<MemberProcess>()
  /** Number of hosts that did not stop within their own time limit */
  late = 0
  #seed: number
  readonly #pair: PostgresPair
  readonly #hosts: ClusterProcesses
  readonly #members: Member[] = []
  readonly #faults: readonly Fault[]
  /** Faults still to happen in this round */
  #next: readonly Fault[] = []

  private constructor(seed: number, only: string, pair: PostgresPair, hosts: ClusterProcesses) {
    this.#seed = seed
    this.#pair = pair
    this.#hosts = hosts
    const all = [
      { what: 'a host was killed, and another started', happen: () => this.#lose((one) => one.kill()) },
      { what: 'a host was told to stop, and another started', happen: () => this.#lose((one) => this.#stop(one)) },
      { what: 'a host was drained by command, stopped, and another started', happen: () => this.#drain() },
      { what: 'a host stood still', happen: () => this.#halt() },
      { what: 'a host was cut off from the database', happen: () => this.#cutOff() },
      { what: 'a host joined, and an older one left', happen: () => this.#replace() },
      { what: 'all hosts were started anew, one after the other', happen: () => this.#rollingRestart() },
      { what: 'the database fell, and came back', happen: () => pair.fall() },
      { what: 'the database failed over to its standby', happen: () => pair.failOver() },
    ]
    this.#faults = all.filter(({ what }) => what.includes(only))
  }

  /** `only`: text that all selected faults must contain. */
  static async start(
    { seed, only }: { readonly seed: number; readonly only: string },
    pair: PostgresPair,
    hosts: ClusterProcesses,
  ): Promise<FaultyCluster> {
    const cluster = new FaultyCluster(seed, only, pair, hosts)
    if (cluster.#faults.length === 0) throw new Error(`no fault says ${JSON.stringify(only)}`)
    for (let n = 0; n < HOSTS; n += 1) await cluster.#join()
    return cluster
  }

  /**
   * Causes the next fault. Every round contains all faults once, in random order. Resolves to the fault's text when it
   * is over.
   */
  async fault(): Promise<string> {
    if (this.#next.length === 0) {
      const drawn = this.#faults.map((fault) => ({ fault, at: this.#random() }))
      this.#next = drawn.sort((a, b) => a.at - b.at).map(({ fault }) => fault)
    }
    const [fault, ...rest] = this.#next
    this.#next = rest
    await fault?.happen()
    return fault?.what ?? ''
  }

  async #join(): Promise<void> {
    const way = await this.#pair.way()
    const skew = Math.round((this.#random() * 2 - 1) * MAX_SKEW)
    const process = await this.#hosts.start({ store: way.url, skew })
    this.#members.push({ process, way })
    this.asked.add(process)
  }

  async #lose(end: (process: MemberProcess) => Promise<void>, member = this.#draw()): Promise<void> {
    this.#members.splice(this.#members.indexOf(member), 1)
    this.asked.delete(member.process)
    await end(member.process)
    member.way.close()
    if (this.#members.length < HOSTS) await this.#join()
  }

  async #stop(process: MemberProcess): Promise<void> {
    if ((await process.terminate()) !== 0) this.late += 1
  }

  async #drain(): Promise<void> {
    const member = this.#draw()
    await this.#hosts.drain(member.process.url)
    await this.#lose((one) => this.#stop(one), member)
  }

  async #replace(): Promise<void> {
    const older = this.#draw()
    await this.#join()
    await this.#lose((one) => this.#stop(one), older)
  }

  async #halt(): Promise<void> {
    const { process } = this.#draw()
    this.asked.delete(process)
    process.halt()
    await scheduler.wait(this.#random() * MAX_HALT)
    process.goOn()
    this.asked.add(process)
  }

  async #cutOff(): Promise<void> {
    const { way } = this.#draw()
    way.cut()
    await scheduler.wait(this.#random() * MAX_CUT)
    way.mend()
  }

  async #rollingRestart(): Promise<void> {
    for (const member of this.#members.slice()) await this.#lose((one) => this.#stop(one), member)
  }

  #draw(): Member {
    const member = this.#members[Math.floor(this.#random() * this.#members.length)]
    if (member === undefined) throw new Error('no host is there')
    return member
  }

  /** Returns a number from 0 to 1 */
  #random(): number {
    this.#seed = nextSeed(this.#seed)
    return randomOf(this.#seed)
  }
}
