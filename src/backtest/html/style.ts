/** The style sheet of a report. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--card:#f7f8fa;--ink:#1a1d23;--quiet:#5b6472;--rule:#dfe3e9;--accent:#2463c9;--hold:#8a6d1c;--gain:#0b7a4b;--loss:#c0312b;--area:.14}
@media (prefers-color-scheme:dark){:root{--paper:#101318;--card:#181c23;--ink:#e8ebf0;--quiet:#9aa4b2;--rule:#2b323c;--accent:#7cabff;--hold:#d9b45b;--gain:#4fcf93;--loss:#ff8078;--area:.2}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
main,header,footer{max-width:1120px;margin:0 auto;padding:0 16px}
header{padding-top:28px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:20px;margin:40px 0 12px;padding-top:16px;border-top:1px solid var(--rule);overflow-wrap:anywhere}
h3{font-size:15px;margin:26px 0 8px}
p{margin:0 0 10px}
a{color:var(--accent)}
.quiet,figcaption,.xs,footer{color:var(--quiet);font-size:13px}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:10px;margin:16px 0}
.tile{background:var(--card);border:1px solid var(--rule);border-radius:8px;padding:10px 12px;min-width:0}
.tile dt{color:var(--quiet);font-size:12.5px}
.tile dd{margin:0;font-size:20px;font-weight:600;font-variant-numeric:tabular-nums}
.tile dd small{display:block;font-size:12px;font-weight:400;color:var(--quiet)}
.gain{color:var(--gain)}.loss{color:var(--loss)}
p.stopped{margin:12px 0;padding:10px 14px;background:var(--card);border:1px solid var(--rule);border-left:3px solid var(--loss);border-radius:6px;font-weight:600}
ul.notes{margin:12px 0;padding:10px 14px 10px 30px;background:var(--card);border:1px solid var(--rule);border-left:3px solid var(--hold);border-radius:6px}
.scroll{overflow-x:auto;-webkit-overflow-scrolling:touch}
.scroll:focus-visible{outline:2px solid var(--accent)}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}
th,td{padding:5px 9px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--rule)}
th{color:var(--quiet);font-weight:600}
.text{text-align:left}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:0 28px}
.columns>section{min-width:0}
figure{margin:0 0 14px}
.plot{position:relative;height:270px}
.low .plot{height:140px}
.plot svg{position:absolute;inset:0 0 0 60px;width:calc(100% - 60px);height:100%}
.tick{position:absolute;left:0;width:56px;text-align:right;transform:translateY(-50%);font-size:11.5px;color:var(--quiet);line-height:1.25;pointer-events:none}
.xs{display:flex;justify-content:space-between;gap:8px;margin:4px 0 0 60px;font-size:12px}
figcaption{display:flex;flex-wrap:wrap;gap:4px 16px;margin:4px 0 0 60px}
.key::before{content:"";display:inline-block;width:16px;height:3px;margin-right:6px;vertical-align:middle;background:currentColor}
.grid{stroke:var(--rule);vector-effect:non-scaling-stroke}
.base{stroke:var(--quiet);stroke-dasharray:4 3;vector-effect:non-scaling-stroke}
.line{fill:none;stroke:currentColor;stroke-width:1.7;vector-effect:non-scaling-stroke}
.area{fill:currentColor;stroke:none;fill-opacity:var(--area)}
.bar{fill:currentColor}
.tone0{color:var(--accent)}.tone1{color:var(--hold)}.tone2{color:var(--gain)}.tone3{color:var(--loss)}.tone4{color:#8c62d3}.tone5{color:#0d8794}
.canvas{position:relative;min-width:100%;padding-left:60px}
.canvas svg{display:block}
.canvas .xs{margin-left:0}
.up{stroke:var(--gain);fill:var(--gain);opacity:.55}.down{stroke:var(--loss);fill:var(--loss);opacity:.55}
.trade{stroke:var(--ink);stroke-width:.8;fill:currentColor}
.trade .way{stroke:currentColor;stroke-width:1.6;fill:none}
summary{cursor:pointer;padding:8px 0}
dl.run{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:2px 16px;font-size:13.5px;margin:0}
dl.run dt{color:var(--quiet)}
dl.run dd{margin:0;overflow-wrap:anywhere}
td{vertical-align:top}
details.why{width:max-content;max-width:min(420px,calc(100vw - 60px))}
details.why summary{padding:0;color:var(--accent)}
details.why p,details.why dl{white-space:normal;margin:4px 0}
details.why table{font-size:12.5px}
details.why td,details.why th{padding:2px 6px}
details.why .text{white-space:normal}
footer{padding:28px 16px 40px}
@media print{.scroll{overflow:visible}}
`
