import { describe, expect, it } from 'vitest'
import { fencedBlocks, markedPart, relativeLinks } from './read-markdown.ts'

describe('fencedBlocks', () => {
  it('gives language, text and first line of each block', () => {
    const markdown = 'Text\n```ts\nconst a = 1\n\nconst b = 2\n```\n\n```\nplain\n```\n'
    expect(fencedBlocks(markdown)).toEqual([
      { language: 'ts', text: 'const a = 1\n\nconst b = 2', line: 3, notRun: undefined },
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

  it('refuses a block that is never closed', () => {
    expect(() => fencedBlocks('a\n```ts\nb')).toThrow('line 2')
  })
})

describe('relativeLinks', () => {
  it('gives targets in the checkout without fragments, and leaves the rest out', () => {
    const markdown =
      '[a](LICENSE) ![b](docs/b.png "title") [c](https://example.com) [d](#part) [e](src/x.ts#L3)\n```\n[f](no)\n```\n'
    expect(relativeLinks(markdown)).toEqual(['LICENSE', 'docs/b.png', 'src/x.ts'])
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
