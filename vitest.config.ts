import { defineConfig } from 'vitest/config'

// The gate reads the numbers of tests from a file; it names it in TEST_REPORT
const report = process.env['TEST_REPORT']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    coverage: { provider: 'v8', include: ['src/**/*.ts', 'plugins/**/*.ts'], reporter: ['text-summary', 'html'] },
  },
})
