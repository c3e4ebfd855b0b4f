/**
 * Configures `npm run test:wide`: each file in a separate process, and all cases of which `npm test` tries only some.
 */
import { join, matchesGlob } from 'node:path'
import { defineConfig } from 'vitest/config'
import base, { ALONE, SHARED_CASES, WIDE } from '../../vitest.config.ts'

const { projects: _, ...test } = base.test ?? {}
const isAlone = (file: string): boolean => [...WIDE, ...ALONE].some((glob) => matchesGlob(file, glob))

export default defineConfig({
  ...base,
  root: join(import.meta.dirname, '..', '..'),
  test: {
    ...test,
    env: { ...test.env, FC_TIMES: process.env['FC_TIMES'] ?? '1' },
    projects: [
      { extends: true, test: { name: 'wide', include: [...WIDE, ...SHARED_CASES.filter(isAlone)] } },
      {
        extends: true,
        test: { name: 'all cases', include: SHARED_CASES.filter((file) => !isAlone(file)), isolate: false },
      },
    ],
  },
})
