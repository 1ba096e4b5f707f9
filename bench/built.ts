/** A module as it is shipped: threads of built code start at once, those of source translate everything first. */
export const built = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(`../dist/${path}.js`, import.meta.url).href)) as Module
