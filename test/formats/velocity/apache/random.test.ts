/** Tests that random templates print the same here and with Apache's engines, if Java is installed. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { printed } from '../printed.ts'
import { DATA } from './corpus.ts'
import { hasJudge, judge, VERSIONS } from './judge.ts'
import { randomTemplates } from './random-templates.ts'

const CASES = 400
const { FC_SEED, FC_RUNS } = process.env

describe.skipIf(!hasJudge())('random templates', () => {
  it.each(VERSIONS)('print the output of Velocity %s', (version) => {
    const seed = FC_SEED === undefined ? undefined : Number(FC_SEED)
    const templates = fc.sample(randomTemplates, {
      numRuns: Number(FC_RUNS ?? CASES),
      ...(seed !== undefined && { seed }),
    })
    const verdicts = judge(
      version,
      templates.map((template) => ({ template, data: DATA })),
    )
    const wrong = templates.flatMap((template, i) => {
      const verdict = verdicts[i]
      const apache = verdict === undefined ? '' : 'output' in verdict ? verdict.output : `!${verdict.error}`
      const ours = printed(template, DATA, version)
      // 2.4 fails while it logs the value of an operand
      const isOwnFault =
        verdict !== undefined && 'error' in verdict && /^null$|NullPointer|because/.test(verdict.message)
      return apache === ours || isOwnFault ? [] : [{ template, apache, ours }]
    })
    expect(wrong.toSorted((a, b) => a.template.length - b.template.length).slice(0, 10)).toEqual([])
  })
})
