/** How `npm run test:wide` runs: what needs a browser, each file in a process of its own. */
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const { projects: _, ...test } = base.test ?? {}

export default defineConfig({
  ...base,
  root: join(import.meta.dirname, '..', '..'),
  test: { ...test, include: ['test/wide/**/*.test.ts'] },
})
