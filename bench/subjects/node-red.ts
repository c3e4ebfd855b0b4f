/**
 * The runtime of node-red without editor and HTTP: a function node per rule, wired to a counter; a function node per
 * sensor of the chain. Events enter the rule's node directly where a resource has one rule, otherwise a node that fans
 * out.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subject } from '../subject.ts'
import type { Limits, ThresholdWorkload, Workload } from '../workload.ts'
import { peerPackage, rulesByResource } from './by-hand.ts'

interface FlowNode {
  id: string
  type: string
  [property: string]: unknown
}
interface RunningNode {
  receive(message: object): void
}
interface Runtime {
  init(settings: object): void
  start(): Promise<void>
  stop(): Promise<void>
  nodes: { getNode(id: string): RunningNode | null }
  events: { on(name: string, listener: () => void): void }
}

export const nodeRed: Subject = async (workload, clock) => {
  const { default: red } = await peerPackage<{ default: Runtime }>('node-red')
  let firings = 0
  const act = () => {
    firings++
  }
  const { flow, entries } = flowOf(workload)
  const folder = mkdtempSync(join(tmpdir(), 'bench-node-red-'))
  red.init(settings(flow, folder, act))
  const ready = new Promise<void>((resolve) => red.events.on('flows:started', resolve))
  await red.start()
  await ready
  const nodes = new Map<string, RunningNode>()
  for (const [resource, id] of entries) {
    // it reports its start slightly before its nodes exist
    for (let i = 0; i < 100 && red.nodes.getNode(id) === null; i++) await turn()
    const node = red.nodes.getNode(id)
    if (node === null) throw new Error(`node-red has not started ${id}`)
    nodes.set(resource, node)
  }
  return {
    handle(event) {
      nodes.get(event.resource)?.receive({ payload: event, on: clock.now })
    },
    waits: false,
    fired: () => firings,
    async drain() {
      for (let i = 0; i < MAX_HOPS; i++) await turn()
    },
    async finish() {
      await red.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Ten steps, the entry and the end, with some to spare: each hop takes a turn of the loop. */
const MAX_HOPS = 16

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

function flowOf(workload: Workload): { flow: readonly FlowNode[]; entries: ReadonlyMap<string, string> } {
  const count = functionNode('count', "global.get('act')()\nreturn null", [])
  if (workload.kind === 'chain') {
    const { steps, limit, resource } = workload
    const flow = steps.map(({ factor, offset }, i) => {
      const source = i === 0 ? 'msg.payload.temperature' : 'msg.value'
      const last = i === steps.length - 1
      const pass = last ? `return msg.value > ${limit} ? msg : null` : 'return msg'
      return functionNode(`step${i}`, `msg.value = ${source} * ${factor} + ${offset}\n${pass}`, [
        last ? 'count' : `step${i + 1}`,
      ])
    })
    return { flow: [TAB, ...flow, count], entries: new Map([[resource, 'step0']]) }
  }
  const flow: FlowNode[] = [TAB, count]
  const entries = new Map<string, string>()
  for (const [resource, limits] of rulesByResource(workload.limits, (one) => one)) {
    const ids = limits.map((_, i) => `${resource}-${i}`)
    flow.push(...limits.map((one, i) => functionNode(ids[i] ?? '', ruleText(one, workload), ['count'])))
    const [first = ''] = ids
    if (ids.length > 1) flow.push(functionNode(`${resource}-all`, 'return msg', ids))
    entries.set(resource, ids.length > 1 ? `${resource}-all` : first)
  }
  return { flow, entries }
}

const TAB: FlowNode = { id: 'tab', type: 'tab', label: 'bench' }

function functionNode(id: string, text: string, wires: readonly string[]): FlowNode {
  // without coordinates it would be a configuration node
  const rest = { outputs: 1, timeout: 0, noerr: 0, initialize: '', finalize: '', libs: [], x: 0, y: 0 }
  return { id, type: 'function', z: 'tab', name: id, func: text, ...rest, wires: [wires] }
}

/** The time of an event travels with it, since nodes run later. */
function ruleText({ temperature, humidity }: Limits, { fires, coolDownMs }: ThresholdWorkload): string {
  const holds = `msg.payload.temperature > ${temperature} && msg.payload.humidity > ${humidity}`
  if (fires === 'every') return `return ${holds} ? msg : null`
  return `
if (!(${holds})) {
  context.set('wasFalse', true)
  return null
}
if (context.get('wasFalse') !== true) return null
context.set('wasFalse', false)
if (msg.on < (context.get('notBefore') || 0)) return null
context.set('notBefore', msg.on + ${coolDownMs})
return msg`
}

function settings(flows: readonly FlowNode[], userDir: string, act: () => void): object {
  const nothing = () => Promise.resolve({})
  return {
    httpAdminRoot: false,
    httpNodeRoot: false,
    disableEditor: true,
    credentialSecret: false,
    userDir,
    logging: { console: { level: 'off', metrics: false, audit: false } },
    telemetry: { enabled: false, updateNotification: false },
    functionGlobalContext: { act },
    functionTimeout: 0,
    storageModule: {
      init: nothing,
      getFlows: () => Promise.resolve(flows),
      saveFlows: nothing,
      getCredentials: nothing,
      saveCredentials: nothing,
      getSettings: nothing,
      saveSettings: nothing,
      getSessions: nothing,
      saveSessions: nothing,
      getLibraryEntry: nothing,
      saveLibraryEntry: nothing,
    },
  }
}
