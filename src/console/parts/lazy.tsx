/** Components that load when they are shown first. */
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export function lazyScreen<P extends object>(
  load: () => Promise<ComponentType<P>>,
): (props: P) => preact.JSX.Element | null {
  let known: ComponentType<P> | undefined
  return function Lazy(props: P) {
    const [, loaded] = useState(0)
    useEffect(() => {
      if (known === undefined)
        void load().then((Component) => {
          known = Component
          loaded(1)
        })
    }, [])
    const Component = known
    return Component === undefined ? null : <Component {...props} />
  }
}
