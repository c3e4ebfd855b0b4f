import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import type { Issue, PatchOperation } from '../../../../src/kernel/errors.ts'
import { movedTo, refusedBy, removing, renaming } from '../../../../src/kernel/issues.ts'
import { stepsOf } from '../../../../src/kernel/pointer.ts'
import { validateRule } from '../../../../src/core/rule/validate.ts'
import { checked } from '../../../../src/services/shared/api/check.ts'
import { closed, readOnly, word } from '../../../../src/services/shared/api/fields.ts'
import { goodRule, plugs } from '../../../core/rule/sample.ts'

const thing = checked(
  closed({
    type: Type.String(),
    'a/b': Type.Optional(Type.Integer()),
    order: Type.Optional(Type.Enum(['ascending', 'descending'])),
    severity: Type.Optional(word('severity', ['CRITICAL', 'MINOR'])),
    parts: Type.Optional(Type.Array(closed({ name: Type.String() }))),
    ...readOnly(['id']),
  }),
  { subject: 'the thing' },
)
const ofBody = (document: unknown) => refusedBy(() => thing.read(document))
const ofRule = (document: unknown) => validateRule(document, plugs).issues

/** Applies JSON Patch operations that fixes use. */
function patched(document: unknown, operations: readonly PatchOperation[]): unknown {
  const copy: unknown = structuredClone(document)
  const placeOf = (pointer: string) => {
    const steps = stepsOf(pointer)
    const name = steps.pop() ?? ''
    const holder = steps.reduce((part, step) => part[step] as Record<string, unknown>, copy as Record<string, unknown>)
    return { holder, name }
  }
  for (const operation of operations) {
    const { holder, name } = placeOf(operation.op === 'move' ? operation.from : operation.path)
    const value = holder[name]
    if (operation.op === 'replace' || operation.op === 'add') holder[name] = operation.value
    else if (Array.isArray(holder)) holder.splice(Number(name), 1)
    else delete holder[name]
    if (operation.op === 'move') placeOf(operation.path).holder[placeOf(operation.path).name] = value
  }
  return copy
}

/** Returns the valid rule with `from` replaced by `to` in its text. */
const misspelt = (from: string, to: string): unknown => JSON.parse(JSON.stringify(goodRule()).replace(from, to))

describe('a fix', () => {
  it.each<[string, (document: unknown) => readonly Issue[], unknown]>([
    ['of a misspelt field', ofBody, { tpye: 'a' }],
    ['of a field whose name has a slash', ofBody, { type: 'a', 'a/c': 1 }],
    ['of a field that nothing is like', ofBody, { type: 'a', colour: 1 }],
    ['of a field whose right name is there', ofBody, { type: 'a', tpye: 'b' }],
    ['of two fields that mean the same one', ofBody, { tpye: 'a', typ: 'b' }],
    ['of a word', ofBody, { type: 'a', order: 'asending' }],
    ['of a word in any case', ofBody, { type: 'a', severity: 'Critcal' }],
    ['within a list', ofBody, { type: 'a', parts: [{ name: 'b' }, { nam: 'c' }] }],
    ['of several at once', ofBody, { tpye: 'a', order: 'decending', parts: [{ nmae: 'b', x: 1 }] }],
    ['of a field of a rule', ofRule, misspelt('"sourceLabel"', '"sorceLabel"')],
    ['of a property of a plug', ofRule, misspelt('"dataName"', '"dataNme"')],
    ['of the name of a node', ofRule, misspelt('"parentLabels":["heat"', '"parentLabels":["heta"')],
    ['of a state', ofRule, misspelt('["Above","Heads"]', '["Abvoe","Haeds"]')],
    ['of a word of a rule', ofRule, misspelt('"AND"', '"ANDD"')],
    ['of the name of a plug', ofRule, misspelt('"name":"stream"', '"name":"straem"')],
    ['of a version', ofRule, misspelt('"version":"1.0.0"', '"version":"1.5.0"')],
    ['of a number in quotes', ofRule, misspelt('"invocationPolicy":60', '"invocationPolicy":"60"')],
    ['of a boolean in quotes', ofRule, misspelt('"label":"heat"', '"dataTrigger":"true","label":"heat"')],
    ['of a number where text is required', ofRule, misspelt('"name":"boiler"', '"name":7')],
    ['of a property that becomes text', ofRule, misspelt('"dataName":"temperature"', '"dataName":5')],
    ['of an empty state', ofRule, misspelt('"stateTo":"Above"', '"stateTo":""')],
    ['of a star as a state', ofRule, misspelt('"statesTrigger":["TRUE"]', '"statesTrigger":["*"]')],
    [
      'of a trigger that is there twice',
      ofRule,
      {
        ...goodRule(),
        triggers: goodRule()
          .triggers.flatMap((one) => [one, one])
          .slice(1),
      },
    ],
    [
      'of a state of an actuator',
      ofRule,
      misspelt('"name":"log"', '"name":"log","retryConfig":{"maxRetries":1,"errorState":"On"}'),
    ],
    ['of a field that nothing reads', ofRule, misspelt('"name":"log"', '"name":"log","timeoutState":"On"')],
    ['of kept data that never leaves', ofRule, misspelt('"label":"heat"', '"keepRawData":true,"label":"heat"')],
    ['of a second frequency', ofRule, misspelt('"frequency":60000', '"frequency":60000,"pollingInterval":5')],
    ['of a clock without a type', ofRule, misspelt('"type":"periodic",', '')],
    ['of a node in a placeholder', ofRule, misspelt('nodes.heat.rawData', 'nodes.heta.rawData')],
    [
      'of a node in two equal placeholders',
      ofRule,
      misspelt('${nodes.heat.rawData.value}', '${nodes.haet.rawData.value} ${nodes.haet.rawData.value}'),
    ],
    ['of a field in a placeholder', ofRule, misspelt('rawData.value', 'rawData.vlaue')],
    ['of a node in a template', ofRule, misspelt('${nodes.heat.rawData.value}', '{{haet.value}}')],
  ])('%s makes the document acceptable', (_what, issuesOf, document) => {
    const issues = issuesOf(document)
    expect(issues).not.toEqual([])
    expect(
      issuesOf(
        patched(
          document,
          issues.flatMap(({ fix = [] }) => fix),
        ),
      ),
    ).toEqual([])
  })

  it('is JSON Patch', () => {
    const fixes = ofBody({ tpye: 'a', colour: 1, order: 'asending' }).flatMap(({ fix = [] }) => fix)
    expect(fixes).toEqual([
      { op: 'move', from: '/tpye', path: '/type' },
      { op: 'remove', path: '/colour' },
      { op: 'replace', path: '/order', value: 'ascending' },
    ])
  })

  it.each([
    ['a value that nothing is like', { type: 'a', order: 'sideways' }],
    ['a name with an excessively long path', { type: 'a', ['x'.repeat(101)]: 1 }],
    ['a wrong type', { type: 1 }],
  ])('does not exist for %s', (_what, document) => {
    expect(ofBody(document).flatMap(({ fix = [] }) => fix)).toEqual([])
  })

  it('moves with its issue to another path', () => {
    const issue: Issue = { type: 'FIELD', severity: 'ERROR', path: '/a', message: 'is unknown' }
    const moved = movedTo({ ...issue, fix: [renaming('b/c')('/a'), removing('/a')] }, '/graph/x/a')
    expect([moved.path, moved.fix]).toEqual([
      '/graph/x/a',
      [
        { op: 'move', from: '/graph/x/a', path: '/graph/x/b~1c' },
        { op: 'remove', path: '/graph/x/a' },
      ],
    ])
    expect(movedTo(issue, '/b')).toEqual({ ...issue, path: '/b' })
  })
})
