/** Records what Apache's engines print for the corpus: `npm run judge:velocity`. */
import { writeFileSync } from 'node:fs'
import { CORPUS, DATA, RECORDS } from './corpus.ts'
import { judge, VERSIONS, type Verdict } from './judge.ts'

const templates = [...new Set(CORPUS.map(({ template }) => template))]
const asked = templates.map((template) => ({ template, data: DATA }))
const verdicts = VERSIONS.map((version) => judge(version, asked))
const lines = templates.map((template, i) => {
  const [old, current] = verdicts.map((all) => shown(all[i]))
  return JSON.stringify({ template, ...(old === current ? { both: old } : { '1.7': old, '2.4': current }) })
})
writeFileSync(RECORDS, `${lines.join('\n')}\n`)
process.stdout.write(`${templates.length} templates, each with ${VERSIONS.join(' and ')}\n`)

/** Errors are compared by kind, since their texts are Apache's own. */
function shown(verdict: Verdict | undefined): string {
  if (verdict === undefined) throw new Error('the judge answered too little')
  return 'output' in verdict ? withoutAddresses(verdict.output) : `!${verdict.error}`
}

/** The address of an object in memory differs each time. */
function withoutAddresses(output: string): string {
  return output.replace(/(\[[LBC][\w.;]*|\$[A-Z]\w*|java\.[\w.$]+)@[0-9a-f]{5,8}/g, '$1@0')
}
