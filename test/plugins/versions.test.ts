/**
 * Tests that rules that name versions of other platforms, or older versions of ours, run with the built-ins that
 * replace these.
 */
import { describe, expect, it } from 'vitest'
import { createBuiltins } from '../../plugins/index.ts'
import type { Issue } from '../../src/kernel/errors.ts'
import type { EngineEvent } from '../../src/core/engine/events.ts'
import { exampleNode } from '../../src/core/plug/plug-page.ts'
import { createRegistry } from '../../src/core/plug/registry.ts'
import type { Rule } from '../../src/core/rule/rule.ts'
import { validateRule } from '../../src/core/rule/validate.ts'
import { createEngine, VirtualClock } from '../../src/index.ts'
import { plugServices } from '../support/plug-services.ts'

/**
 * Our older versions. A rule that names one runs with a note about the version that replaces it: a stored task is never
 * rejected.
 */
const EARLIER: readonly (readonly [string, string])[] = [
  ['Function', '1.0.0'],
  ['changedBy', '1.0.0'],
  ['condition', '1.1.0'],
  ['delaySensor', '1.0.0'],
  ['hasDataSince', '1.0.0'],
  ['holdsFor', '1.0.0'],
  ['holdsFor', '2.0.0'],
  ['noDataFor', '1.0.0'],
  ['isParameterAvailable', '1.0.0'],
  ['windowStats', '1.0.0'],
  ['hysteresis', '1.0.0'],
  ['invokeCount', '1.0.0'],
  ['isParameterEqual', '1.0.0'],
  ['script', '1.0.0'],
  ['script', '1.1.0'],
  ['updateAlarm', '1.0.0'],
  ['transformer', '1.0.0'],
]

const NAMED: readonly (readonly [string, string])[] = [
  ...EARLIER,
  ['Function', '1.0.1'],
  ['bitflip', '1.0.2'],
  ['condition', '1.1.6'],
  ['createAlarm', '1.0.1'],
  ['debugDialog', '1.0.0'],
  ['debugDialog', '1.0.2'],
  ['delaySensor', '1.0.1'],
  ['dice', '1.0.9'],
  ['inRange', '1.0.1'],
  ['isParameterEqual', '0.0.3'],
  ['script', '2.0.0'],
  ['stream', '1.0.1'],
  ['streamingDataSensor', '1.1.3'],
  ['streamingRangeSensor', '1.0.7'],
  ['transformer', '2.0.0'],
]

const plugs = createBuiltins({ services: plugServices() })
const registry = createRegistry(plugs)
const message = { resource: 'r', temperature: 21, value: 21 }

const cases = NAMED.flatMap(([name, version]) =>
  plugs.filter((plug) => plug.name === name).map((plug) => ({ kind: plug.kind, name, version, plug })),
)

/** A rule that runs the node on every message. */
function ruleOf({ kind, version, plug }: (typeof cases)[number]): Rule {
  const node = { ...exampleNode(plug), version } as unknown as NonNullable<Rule['sensors']>[number]
  if (kind === 'sensor') return { sensors: [node] }
  return {
    sensors: [{ label: 's', name: 'stream', resource: '$' }],
    actuators: [node],
    triggers: [{ sourceLabel: 's', destinationLabel: node.label }],
  }
}

const versionsTold = (issues: readonly Issue[]) =>
  issues.flatMap(({ severity, type, details }) => (type === 'VERSION' ? [[severity, details?.['runs']]] : []))

describe('an older version in rules', () => {
  it('has a case for each plug', () => {
    expect(new Set(cases.map(({ name }) => name)).size).toBe(new Set(NAMED.map(([name]) => name)).size)
  })

  it.each(cases)('$kind $name:$version runs, with a note', async (one) => {
    const rule = ruleOf(one)
    expect(versionsTold(validateRule(rule, registry).issues)).toEqual([['INFO', one.plug.version]])

    const clock = new VirtualClock(0)
    const engine = createEngine({ plugs, scheduler: clock, seed: 1 })
    const events: EngineEvent[] = []
    engine.events$.subscribe((event) => events.push(event))
    const task = await engine.start(rule, { resource: 'r' })
    engine.receive(message)
    clock.advanceTo(clock.now())
    await engine.settled()
    const label = String(exampleNode(one.plug)['label'])
    const results = events.filter((event) => event.type === 'result' && event.node === label)
    expect(results).toMatchObject([{ ok: true }])
    expect(task.info().warnings).toContainEqual(
      expect.stringContaining(`${one.name} ${one.plug.version} runs instead of ${one.version}`),
    )
    // what the user wrote stays in the rule
    expect(JSON.stringify(task.save().rule)).toContain(`"version":"${one.version}"`)
    await engine.close()
  })

  it.each(cases)('$kind $name:$version differs from the current version of the plug', ({ version, plug }) => {
    expect(version).not.toBe(plug.version)
  })
})
