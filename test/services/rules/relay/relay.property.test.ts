/**
 * Tests tasks of several partitions that receive each other's messages: they behave like one host that received each
 * partition's log.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../../src/index.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { partitionOf } from '../../../../src/cluster/partitions/partition.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { Ground, runnableOf } from '../durable/support/lives.ts'
import { ModelTenant } from './model-tenant.ts'

const COUNT_ID = 3
/** One resource per partition. */
const RESOURCES = [0, 1, 2].map((home) => {
  for (let n = 0; ; n += 1) if (partitionOf(`r${n}`, COUNT_ID) === home) return `r${n}`
})
const [A = '', B = '', C = ''] = RESOURCES

function ruleOn(...resources: readonly string[]): Rule {
  return {
    sensors: resources.map((resource, i) => ({ label: `s${i}`, name: 'count', version: '1.0.0', resource })),
    actuators: [{ label: 'note', name: 'note', version: '1.0.0' }],
    triggers: [{ sourceLabel: 's0', destinationLabel: 'note', statesTrigger: ['EVEN'], invocationPolicy: 3 }],
    task: { type: 'reactive' },
  }
}

const RULES = {
  own: { rule: ruleOn(A), partition: 0 },
  two: { rule: ruleOn(B, C), partition: 1 },
  all: { rule: ruleOn(C, A, B), partition: 2 },
  foreign: { rule: ruleOn(B), partition: 0 },
  alarms: {
    partition: 2,
    rule: {
      sensors: [{ label: 's0', name: 'heard', version: '1.0.0', resource: A }],
      task: { type: 'reactive' },
    } satisfies Rule,
  },
}
const HEARD: Readonly<Record<keyof typeof RULES, readonly string[]>> = {
  own: [A],
  two: [B, C],
  all: [A, B, C],
  foreign: [B],
  alarms: [A],
}

type Step =
  | { readonly do: 'send'; readonly resource: string; readonly isLate: boolean }
  /** Messages that reach a partition other than their resource's, as events of alarms do */
  | { readonly do: 'tell'; readonly by: number; readonly resource: string }
  | { readonly do: 'begin'; readonly task: keyof typeof RULES }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'end'; readonly partition: number; readonly commits: number }
  | { readonly do: 'overtake' | 'move'; readonly partition: number }

const resource = fc.constantFrom(...RESOURCES)
const partition = fc.nat(COUNT_ID - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      resource,
      isLate: fc.constantFrom(false, false, false, true),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tell' as const), by: partition, resource }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      task: fc.constantFrom(...(Object.keys(RULES) as (keyof typeof RULES)[])),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 4_000 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('end' as const), partition, commits: fc.nat(6) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('overtake' as const, 'move' as const), partition }),
  },
)

interface Sent {
  readonly n: number
  readonly resource: string
  readonly channel: string
  /** Partition that received the message */
  readonly by: number
  readonly isAcknowledged: boolean
  /** Tasks that had begun before the message was sent */
  readonly hearers: ReadonlySet<string>
}

async function played(steps: readonly Step[]) {
  const tenant = new ModelTenant(openMemory(), COUNT_ID, RULES)
  const begun = new Set<string>()
  const sent: Sent[] = []
  const send = async (by: number, to: string, channel: string, isLate: boolean): Promise<void> => {
    const n = sent.length
    const hearers = new Set(begun)
    const isAcknowledged = await tenant.send(by, { resource: to, level: n, n }, channel || undefined, isLate)
    sent.push({ n, resource: to, channel, by, isAcknowledged, hearers })
  }
  await tenant.reopen()
  for (const one of steps) {
    if (one.do === 'send') await send(RESOURCES.indexOf(one.resource), one.resource, '', one.isLate)
    else if (one.do === 'tell') await send(one.by, one.resource, 'alarm', false)
    else if (one.do === 'wait') await tenant.pass(one.ms)
    else if (one.do === 'move') await tenant.move(one.partition)
    else if (one.do === 'overtake') await tenant.overtake(one.partition)
    else if (one.do === 'end') await tenant.overtake(one.partition, one.commits)
    else if (one.do === 'begin' && (await tenant.begin(one.task))) {
      await tenant.settle()
      begun.add(one.task)
    }
    await tenant.reopen()
  }
  await tenant.settle()
  return { tenant, begun, sent }
}

/** Returns the numbers of a resource's messages that the tasks of a partition received. */
async function given(tenant: ModelTenant, at: number, of: string, channel: string): Promise<readonly number[]> {
  const messages = await tenant.messages(at)
  return messages.flatMap((one) =>
    one.message.resource === of && one.channel === channel ? [Number(one.message['n'])] : [],
  )
}

// Holds RELAY-1, RELAY-2, LISTENERS-1, RELAYREADER-1
describe('partitions of a tenant', () => {
  it('give each task whatever was acknowledged of its resources, once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const { tenant, begun, sent } = await played(steps)
        for (const task of begun) {
          const name = task as keyof typeof RULES
          const channel = name === 'alarms' ? 'alarm' : ''
          for (const of of HEARD[name]) {
            const all = await given(tenant, RULES[name].partition, of, channel)
            expect(new Set(all).size).toBe(all.length)
            const mine = sent.filter((one) => one.resource === of && one.channel === channel)
            const due = mine.filter((one) => one.isAcknowledged && one.hearers.has(task))
            expect(all).toEqual(expect.arrayContaining(due.map(({ n }) => n)))
            // messages that came through one partition keep their order
            for (const by of [0, 1, 2]) {
              const numbers = new Set(mine.flatMap((one) => (one.by === by ? [one.n] : [])))
              const came = all.filter((n) => numbers.has(n))
              expect(came).toEqual(came.toSorted((x, y) => x - y))
            }
          }
        }
        await tenant.close()
      }),
      runs(60),
    )
  }, 120_000)

  it('leave tasks as one host does that is given the same in the order of the log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const { tenant, begun } = await played(steps)
        for (let at = 0; at < COUNT_ID; at += 1) {
          const alone = new Ground().open()
          for (const input of await tenant.inputs(at)) {
            await alone.to(input.at)
            if (input.k === 'begin') await alone.begin(runnableOf(input.t, RULES[input.t as keyof typeof RULES].rule))
            if (input.k === 'data') {
              await alone.runner.intake.receive([
                { messages: input.m, ...(input.c !== undefined && { channel: input.c }) },
              ])
            }
          }
          await alone.to(tenant.now)
          for (const task of begun) {
            if (RULES[task as keyof typeof RULES].partition !== at) continue
            expect(tenant.look(task)).toEqual(alone.look(task))
          }
          await alone.close()
        }
        await tenant.close()
      }),
      runs(40),
    )
  }, 120_000)
})
