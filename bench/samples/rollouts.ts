/** Sample of shadows: CPU time of a message to a task alone, beside a shadow, and beside another task. */
import { builtins } from '../../plugins/index.ts'
import { Preparer } from '../../src/core/engine/prepare.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import { DeterministicEngine } from '../../src/services/rules/durable/deterministic-engine.ts'
import { Divergence } from '../../src/services/rules/durable/divergence.ts'
import { shadowId } from '../../src/services/rules/durable/shadow-id.ts'
import { shadowPlugs } from '../../src/services/rules/durable/shadow-plugs.ts'
import { Shadows } from '../../src/services/rules/durable/shadows.ts'
import { cpuMs } from './spent.ts'

/** `alone`: one task a resource; `shadow`: the same with a shadow each; `second`: with a second task each */
export type RolloutSubject = 'alone' | 'shadow' | 'second'

export interface RolloutSample {
  /** us of CPU of a message */
  readonly us: number
  /** firings of one version only */
  readonly divergence: number
}

const RESOURCES = 1_000
const WARM_UP = 50_000
const MESSAGES = 100_000
const FROM = 1_800_000_000_000

const ruleOf = (enter: number) => ({
  sensors: [
    { label: 'hot', name: 'hysteresis', resource: '$', properties: { value: 'temperature', enter, leave: 70 } },
  ],
  actuators: [{ label: 'note', name: 'log', properties: { message: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'note', begins: ['On' as const] }],
})

export async function rolloutsSample({ subject }: { subject: RolloutSubject }): Promise<RolloutSample> {
  const shadows = new Shadows()
  const nothing = (): void => undefined
  const engine = new DeterministicEngine(
    {
      plugs: createRegistry(builtins),
      shadowPreparer: new Preparer(createRegistry(shadowPlugs(builtins))),
      history: { perTask: 100, inAll: 100_000 },
      observed: (one) => shadows.attach(one),
    },
    { touched: nothing, opened: nothing, answered: nothing, answeredAhead: nothing, ended: nothing },
    FROM,
  )
  const begin = async (id: string, resource: string, enter: number, beside?: string): Promise<void> => {
    const settings = { type: 'reactive' as const, resource, name: id }
    const task = { id, epoch: 1, createTime: FROM, source: ruleOf(enter), settings, ...(beside && { beside }) }
    engine.beginning.set(id, task)
    await engine.apply({ k: 'begin', at: FROM, t: id, e: 1, r: [resource], d: 0, ...(beside && { f: beside }) }, 0)
  }
  for (let n = 0; n < RESOURCES; n++) {
    const [id, resource] = [`t${n}`, `boiler-${n}`]
    await begin(id, resource, 90)
    if (subject === 'second') await begin(`second-${n}`, resource, 89)
    if (subject !== 'shadow') continue
    const shadow = shadowId('r', id)
    const divergence = new Divergence({ rollout: 'r', task: id, resource, tolerance: 600_000 })
    shadows.add({ live: id, shadow, isLiveNew: false, divergence })
    await begin(shadow, resource, 89, id)
  }
  let sent = 0
  const send = (count: number): void => {
    for (const until = sent + count; sent < until; sent++) {
      const at = FROM + sent
      const round = Math.floor(sent / RESOURCES)
      const message = { resource: `boiler-${sent % RESOURCES}`, timestamp: at, temperature: 60 + ((round * 7) % 41) }
      engine.apply({ k: 'data', at, m: message }, sent + 1)
    }
  }
  send(WARM_UP)
  const before = cpuMs()
  send(MESSAGES)
  const us = ((cpuMs() - before) * 1_000) / MESSAGES
  let divergence = 0
  for (const pair of shadows.pairs) divergence += pair.divergence.day(engine.now).divergence
  await engine.engine.close()
  return { us, divergence }
}
