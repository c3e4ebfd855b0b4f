/** Reads, filters and merges tags, each a name and a color. */
import { AppError } from '#kernel'
import type { Tag } from '../contract.ts'
import type { TagQueryOptions } from '../function-schema.ts'
import type { TagInput } from '../manifest-schema.ts'
import type { CollectionSpec } from '#storage'
import { wildcard } from './wildcard.ts'

export type TagRecord = Tag

export const TAGS: CollectionSpec<TagRecord> = {
  name: 'function_tags',
  version: 1,
  audited: true,
  fields: { name: { type: 'text', of: ({ name }) => name } },
}

const PALETTE = ['#4153ea', '#0f9d76', '#b4541a', '#8a3fc2', '#c22f5b', '#2878b5', '#6b7280', '#94790b'] as const

export function defaultColor(name: string): string {
  let sum = 0
  for (const char of name) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 65_521
  return PALETTE[sum % PALETTE.length] ?? PALETTE[0]
}

export function noTag(name: string): AppError {
  return new AppError('NOT_FOUND', `No tag '${name.slice(0, 100)}'`)
}

export function tagsLike(tags: readonly Tag[], { name = '*', color }: TagQueryOptions): readonly Tag[] {
  const fits = wildcard(name.toLowerCase())
  return tags.filter((one) => fits(one.name.toLowerCase()) && (color === undefined || one.color === color))
}

export function oneTag(tags: readonly Tag[], name: string): { readonly tag: Tag } {
  const tag = tags.find((one) => one.name === name)
  if (tag === undefined) throw noTag(name)
  return { tag }
}

/** Returns the tags without duplicate names; the first of a name wins. */
export function tagsIn(inputs: readonly TagInput[]): readonly TagRecord[] {
  const tags = new Map<string, TagRecord>()
  for (const input of inputs) {
    const { name, color = defaultColor(name) } = typeof input === 'string' ? { name: input } : input
    if (!tags.has(name)) tags.set(name, { name, color })
  }
  return [...tags.values()]
}

export function withAuthor<M extends { readonly metadata?: object }>(manifest: M, author: string | undefined): M {
  return author === undefined ? manifest : { ...manifest, metadata: { ...manifest.metadata, author } }
}

/** Separates a manifest from its tags, which may appear in two places. */
export function withoutTags<
  M extends { readonly tags?: readonly TagInput[]; readonly metadata?: { readonly tags?: readonly TagInput[] } },
>(manifest: M): { readonly manifest: Omit<M, 'tags'>; readonly tags: readonly TagRecord[] } {
  const { tags: direct = [], metadata, ...rest } = manifest
  const { tags: legacy = [], ...others } = metadata ?? {}
  return {
    manifest: { ...rest, ...(metadata && { metadata: others }) } as Omit<M, 'tags'>,
    tags: tagsIn([...direct, ...legacy]),
  }
}
