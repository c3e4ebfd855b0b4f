import { describe, expect, it } from 'vitest'
import { anchorsOf, fencedBlocks, markedPart, relativeLinks } from './read-markdown.ts'

describe('fencedBlocks', () => {
  it('returns language, text and first line of each block', () => {
    const markdown = 'Text\n```ts\nconst a = 1\n\nconst b = 2\n```\n\n```\nplain\n```\n'
    expect(fencedBlocks(markdown)).toEqual([
      { language: 'ts', text: 'const a = 1\n\nconst b = 2', line: 3, notRun: undefined, printedBy: undefined },
      { language: '', text: 'plain', line: 9, notRun: undefined },
    ])
  })

  it('keeps shorter fences inside a longer one', () => {
    expect(fencedBlocks('````md\n```ts\na\n```\n````')).toMatchObject([{ language: 'md', text: '```ts\na\n```' }])
  })

  it('takes an opt-out for the next block only, and only when nothing stands between', () => {
    const markdown =
      '<!-- not run: needs a key -->\n\n```sh\na\n```\n```sh\nb\n```\n<!-- not run: x -->\ntext\n```sh\nc\n```'
    expect(fencedBlocks(markdown).map((block) => block.notRun)).toEqual(['needs a key', undefined, undefined])
  })

  it('knows what prints a block: a command, or the block above', () => {
    const markdown =
      '<!-- printed by: npx a -->\n```text\na\n```\n\n<!-- printed -->\n\n```text\nb\n```\n```text\nc\n```'
    expect(fencedBlocks(markdown).map((block) => block.printedBy)).toEqual(['npx a', '', undefined])
  })

  it('refuses a block that is never closed', () => {
    expect(() => fencedBlocks('a\n```ts\nb')).toThrow('line 2')
  })
})

describe('relativeLinks', () => {
  it('returns targets in the checkout with their fragments, and leaves the rest out', () => {
    const markdown =
      '[a](LICENSE) ![b](docs/b.png "title") [c](https://example.com) [d](#part) [e](src/x.ts#L3)\n```\n[f](no)\n```\n'
    expect(relativeLinks(markdown)).toEqual(['LICENSE', 'docs/b.png', '#part', 'src/x.ts#L3'])
  })
})

describe('anchorsOf', () => {
  it('returns headings as GitHub names them, and anchors of the page, but nothing of blocks', () => {
    const markdown = '# A rule\n## `retryConfig`, and more\n<a id="sensor-x"></a>\n```md\n# no\n```\n'
    expect([...anchorsOf(markdown)]).toEqual(['a-rule', 'retryconfig-and-more', 'sensor-x'])
  })
})

describe('markedPart', () => {
  it('is what stands between the marks', () => {
    expect(markedPart('a\n<!-- t:start -->\nb\n<!-- t:end -->\nc', 't')).toBe('b')
  })

  it('is undefined without both marks in order', () => {
    expect(markedPart('<!-- t:end --> <!-- t:start -->', 't')).toBeUndefined()
    expect(markedPart('nothing', 't')).toBeUndefined()
  })
})
