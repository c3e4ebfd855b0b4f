/** Tests that the corpus prints what Apache's engines printed, except for the listed differences. */
import { describe, expect, it } from 'vitest'
import { CORPUS, DATA } from './apache/corpus.ts'
import { DIFFERENCES, differenceOf } from './apache/differences.ts'
import { VERSIONS, type Version } from './apache/judge.ts'
import { printed } from './printed.ts'

const BY_TEMPLATE = new Map(CORPUS.map((one) => [one.template, one]))

function wanted(template: string, version: Version): string | undefined {
  const recorded = BY_TEMPLATE.get(template)
  return recorded?.both ?? recorded?.[version]
}

describe('templates print what Apache Velocity prints', () => {
  it('have one recorded output each', () => {
    expect(BY_TEMPLATE.size).toBe(CORPUS.length)
    expect(BY_TEMPLATE.size).toBeGreaterThan(2_000)
    expect(
      CORPUS.filter(({ template }) => VERSIONS.some((version) => wanted(template, version) === undefined)),
    ).toEqual([])
  })

  it.each(VERSIONS)('of version %s', (version) => {
    const wrong = CORPUS.flatMap(({ template }) => {
      if (differenceOf(template, version) !== undefined) return []
      const [apache, ours] = [wanted(template, version), printed(template, DATA, version)]
      return apache === ours ? [] : [{ template, apache, ours }]
    })
    expect(wrong).toEqual([])
  })

  it('list only known differences that still exist', () => {
    const needless = DIFFERENCES.flatMap(({ templates, only }) =>
      templates.filter((template) =>
        VERSIONS.every((version) => {
          if (only !== undefined && only !== version) return true
          return wanted(template, version) === printed(template, DATA, version)
        }),
      ),
    )
    expect(needless).toEqual([])
  })

  it('leave the data unmodified', () => {
    const data = structuredClone(DATA)
    printed('$list.add(1)$map.put("z", 1)$deep.a.b.put("c", 2)#set($n = 9)', data, '1.7')
    expect(data).toEqual(DATA)
  })
})
