import { readdirSync } from 'node:fs'
import { runInThisContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtins } from '../../../plugins/index.ts'
import { ruleCode } from '../../../src/cli/rule-files/rule-code.ts'
import { createRegistry } from '../../../src/core/plug/registry.ts'
import type { Rule, Template } from '../../../src/core/rule/rule.ts'
import { validateRule } from '../../../src/core/rule/validate.ts'
import { graph, read, template, value } from '../../../src/rules/index.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { readText } from '../../support/repository.ts'
import { cli } from '../run-cli.ts'

/** Runs the code; returns the JSON of the rule that it makes. */
function made(code: string): unknown {
  const [imports = '', ...lines] = code.split('\n')
  expect(imports).toMatch(/^import \{ [a-z, ]+ \} from 'reflexarc\/rules'$/)
  const body = lines.join('\n').replace('export const rule = ', 'return ')
  const run = runInThisContext(`(function (graph, template, read, value) { 'use strict'; ${body} })`) as (
    ...given: unknown[]
  ) => unknown
  return JSON.parse(JSON.stringify(run(graph, template, read, value)))
}

const fixtures = ['rules', 'needs'].flatMap((folder) =>
  readdirSync(`fixtures/${folder}`)
    .filter((name) => name.endsWith('.json'))
    .map((name) => `fixtures/${folder}/${name}`),
)

describe('the code of a rule', () => {
  it.each(fixtures)('%s makes an equal rule', (path) => {
    const document = JSON.parse(readText(path)) as Rule | Template
    expect(made(ruleCode(document))).toEqual(document)
  })

  it('reads like one that was written by hand', () => {
    expect(
      ruleCode({
        sensors: [
          {
            label: 'hot',
            name: 'streamingDataSensor',
            resource: '$',
            properties: { parameter: 't', threshold: '${variables.limit}' },
          },
          { label: 'on-off', name: 'alwaysON' },
        ],
        relations: [{ label: 'both', type: 'AND', parentLabels: ['hot', 'on-off'], combinations: [['Above', 'ON']] }],
        actuators: [{ label: 'log', name: 'log', properties: { message: '${streamdata.t}' } }],
        triggers: [
          { sourceLabel: 'both', destinationLabel: 'log', begins: ['TRUE'], invocationPolicy: 60 },
          { sourceLabel: 'hot', destinationLabel: 'on-off' },
        ],
        task: { name: 'x', variables: { limit: 5 } },
      }),
    ).toMatchInlineSnapshot(`
      "import { graph, read, value } from 'reflexarc/rules'

      export const rule = graph({ name: "x", variables: { limit: 5 } }, (g) => {
        const hot = g.sensor("hot", "streamingDataSensor", { parameter: "t", threshold: read("variables.limit") })
        const on_off = g.sensor("on-off", "alwaysON", undefined, { resource: null })
        const both = g.all("both", hot.is("Above"), on_off.is("ON"))
        const log = g.actuator("log", "log", { message: value("t") })
        g.fire(both.begins("TRUE"), log, { atMostEvery: "60s" })
        g.fire(hot, on_off)
      })
      "
    `)
  })

  const text = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '__proto__',
      'constructor',
      '`${process.exit(1)}`',
      '"); process.exit(1); ("',
      "'",
      '\\',
      '\u2028',
      '*/',
      'return',
      'g',
      '1',
      '${streamdata.a}',
      '${?nodes.a.state}',
    ),
  )
  const json = fc.jsonValue({ maxDepth: 3 })
  const properties = fc.dictionary(text, fc.oneof(text, json), { noNullPrototype: true })
  const label = text.filter((one) => one !== '')
  const node = fc.record(
    { label, name: label, properties, resource: text, sequence: fc.nat() },
    { requiredKeys: ['label', 'name'] },
  )
  const trigger = (labels: readonly string[]) =>
    fc.record(
      {
        sourceLabel: fc.constantFrom(...labels),
        destinationLabel: fc.constantFrom(...labels),
        statesTrigger: fc.array(text, { maxLength: 3 }),
        begins: fc.array(text, { maxLength: 2 }),
        stateChangeTrigger: fc.record({ stateFrom: text, stateTo: text }),
        invocationPolicy: fc.oneof(fc.nat(), fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })),
        each: fc.boolean(),
      },
      { requiredKeys: ['sourceLabel', 'destinationLabel'] },
    )
  const rule = fc.uniqueArray(node, { selector: (one) => one.label, minLength: 2, maxLength: 8 }).chain((nodes) => {
    const labels = nodes.map((one) => one.label)
    const [first = '', ...others] = labels
    return fc.record(
      {
        sensors: fc.constant(nodes.slice(1)),
        relations: fc.constant([
          { label: first, type: 'AND' as const, parentLabels: others, combinations: [others.map(() => 'x')] },
        ]),
        triggers: fc.array(trigger(labels), { maxLength: 5 }),
        notes: fc.array(fc.record({ text })),
        task: fc.record({ name: text, variables: properties }),
      },
      { requiredKeys: ['sensors'] },
    )
  })

  it('makes an equal rule, whatever its labels and texts are', () => {
    fc.assert(
      fc.property(rule, (one) => {
        const document: unknown = JSON.parse(JSON.stringify(one))
        // empty lists are left out
        const lists = Object.entries(document as Rule).filter(([, list]) => !Array.isArray(list) || list.length > 0)
        expect(made(ruleCode(document as Rule))).toEqual(Object.fromEntries(lists))
      }),
      runs(300),
    )
  })

  it('is printed by the command line, which rejects an invalid rule', async () => {
    const { code, stdout } = await cli(['rules', 'code', 'fixtures/rules/overheating.json'])
    expect(code).toBe(0)
    expect(made(stdout)).toEqual(JSON.parse(readText('fixtures/rules/overheating.json')))
    expect(validateRule(made(stdout), createRegistry(builtins)).rule).toBeDefined()
    const broken = await cli(['rules', 'code', 'tsconfig.json'])
    expect(broken.code).toBe(1)
    expect(broken.stderr).toContain('ERROR')
  })
})
