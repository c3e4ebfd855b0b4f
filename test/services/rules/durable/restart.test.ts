import { describe } from 'vitest'
import { Ground } from './support/lives.ts'
import { survives } from './support/survival.ts'

describe('a runner on memory that outlives it', () => {
  survives(() => new Ground())
})
