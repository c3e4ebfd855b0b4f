import { describe, expect, it } from 'vitest'
import { readText } from '../support/repository.ts'
import { MUTANTS } from './mutants.ts'
import { SUBJECTS } from './world/subjects.ts'

describe('a mutant of the host', () => {
  it.each(MUTANTS)('changes one place of the code as it is: $name', ({ file, find, replace }) => {
    expect(readText(file).split(find)).toHaveLength(2)
    expect(replace).not.toBe(find)
  })

  it('is looked for in runs about a subject that there is, or in any', () => {
    const subjects = new Set(SUBJECTS.map(({ name }) => name))
    expect(MUTANTS.filter(({ about }) => about !== undefined && !subjects.has(about))).toEqual([])
  })
})
